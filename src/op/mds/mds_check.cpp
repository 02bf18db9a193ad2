// SPDX-License-Identifier: Apache-2.0
#include "op/mds/mds_check.hpp"

#include <absl/strings/str_cat.h>

#include <string>
#include <utility>

namespace sluice::lib {

void mds_check::add(std::uint64_t offset, std::string_view bytes) {
  if (!is_open()) return;
  if (offset != next_) return drop();
  digest_->add(bytes);
  next_ += bytes.size();
}

status mds_check::result() {
  if (!is_open() || next_ != bytes_) return {};
  const std::string made = std::exchange(digest_, nullptr)->finish();
  if (made == stated_.value) return {};
  return data_loss_error(absl::StrCat("the ", stated_.name, " of the shard is ", made, ", and index.json states ",
                                      stated_.value, ": it is damaged, or of another index"));
}

}  // namespace sluice::lib
