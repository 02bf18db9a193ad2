// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/outlet.hpp"

namespace sluice::lib {

std::coroutine_handle<> outlet::error_awaiter::await_suspend(std::coroutine_handle<> me) {
  if (!fatal_.ok()) return unwind(&stage_, std::move(fatal_));
  return stage_.drop_elements(me, errors_);
}

outlet::error_awaiter outlet::drop(dropped_errors errors) { return {*stage_, std::move(errors), status()}; }

outlet::error_awaiter outlet::drop(dropped_error e) {
  dropped_errors one;
  one.add(std::move(e));
  return drop(std::move(one));
}

outlet::error_awaiter outlet::end_with(status why) { return {*stage_, {}, std::move(why)}; }

}  // namespace sluice::lib
