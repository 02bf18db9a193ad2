// SPDX-License-Identifier: Apache-2.0
#include "format/example/packed_rows.hpp"

#include <algorithm>

#include "sluice/base/status.hpp"

namespace sluice::lib {

void packed_rows::grow(std::size_t n) {
  constexpr std::size_t kFirst = std::size_t{16} << 10, kMost = std::numeric_limits<std::int32_t>::max();
  if (n > kMost - size_) throw error(resource_exhausted_error("the values of records have more than 2 GiB"));
  buffer* larger = buffer::make(std::max({kFirst, size_ * 2, size_ + n}));
  if (bytes_) {
    std::memcpy(larger->data(), bytes_->data(), size_);
    bytes_->drop_references(1);
  }
  bytes_ = larger;
}

}  // namespace sluice::lib
