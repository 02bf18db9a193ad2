// SPDX-License-Identifier: Apache-2.0
#include "op/held_memory.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

namespace sluice::lib {

status held_memory::refusal(std::size_t budget) const {
  auto words = [](std::string_view s) { return absl::string_view(s.data(), s.size()); };
  return resource_exhausted_error(absl::StrCat(words(what_), " alone takes more than the memory budget of ",
                                               absl::StrFormat("%.1f MiB", static_cast<double>(budget) / (1 << 20)),
                                               "; ", words(advice_), ", or raise the budget"))
      .in_stage(label_);
}

}  // namespace sluice::lib
