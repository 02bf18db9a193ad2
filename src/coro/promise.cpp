// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/detail/promise.hpp"

namespace sluice::lib {

std::coroutine_handle<> gave_way() noexcept {
  static const std::coroutine_handle<> nothing = std::noop_coroutine();
  return nothing;
}

void promise_base::throw_failure() {
  status why = std::exchange(failure, status());
  throw_status(why);
}

}  // namespace sluice::lib
