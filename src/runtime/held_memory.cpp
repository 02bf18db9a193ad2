// SPDX-License-Identifier: Apache-2.0
#include "runtime/held_memory.hpp"

#include <absl/strings/str_cat.h>

#include "base/text/mebibytes.hpp"

namespace sluice::lib {

status held_memory::refusal(std::size_t wanted, std::string_view what) const {
  auto words = [](std::string_view s) { return absl::string_view(s.data(), s.size()); };
  ledger_report now = run_->ledger->report();
  std::string why =
      wanted > now.budget_bytes
          ? absl::StrCat(words(what), " alone takes more than the memory budget of ", mebibytes(now.budget_bytes))
          : absl::StrCat("with ", words(what), " more is held than the memory budget of ", mebibytes(now.budget_bytes),
                         ": ", now.held_text());
  return resource_exhausted_error(absl::StrCat(why, "; ", words(advice_), ", or raise the memory budget"))
      .in_stage(label_);
}

}  // namespace sluice::lib
