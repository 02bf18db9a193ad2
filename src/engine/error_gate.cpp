// SPDX-License-Identifier: Apache-2.0
#include "engine/error_gate.hpp"

#include <algorithm>

#include "runtime/error_account.hpp"

namespace sluice::lib {

bool error_gate::may_drop(const status& why) const {
  return skips() && why.code() != status_code::cancelled && why.code() != status_code::resource_exhausted;
}

outlet::error_awaiter error_gate::settle(outlet& out, const status& why, std::uint64_t element) const {
  status here = told(why, element);
  if (!may_drop(here)) return out.end_with(std::move(here));
  return out.drop(dropped(std::move(here)));
}

std::uint64_t error_gate::errors_max() const { return std::min(run_->errors_max, errors_allowed(account_)); }

}  // namespace sluice::lib
