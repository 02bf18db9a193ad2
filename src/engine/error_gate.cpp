// SPDX-License-Identifier: Apache-2.0
#include "engine/error_gate.hpp"

namespace sluice::lib {

status error_gate::settle(const status& why, std::uint64_t element) const {
  status told = why.in_stage(label_, element);
  if (!skips() || why.code() == status_code::cancelled || why.code() == status_code::resource_exhausted) return told;
  return run_->count_error(told) ? status() : told;
}

}  // namespace sluice::lib
