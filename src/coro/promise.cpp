// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/promise.hpp"

namespace sluice::lib {

void promise_base::throw_failure() {
  status why = std::exchange(failure, status());
  throw_status(why);
}

}  // namespace sluice::lib
