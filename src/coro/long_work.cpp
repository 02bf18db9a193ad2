// SPDX-License-Identifier: Apache-2.0
#include "coro/long_work.hpp"

namespace sluice::lib {

std::coroutine_handle<> long_work::look_around(turn& t, promise_base& p) {
  environment* env = p.env;
  if (!env || !env->time) {
    t.look_never();
    return p.self;
  }
  turn::seen seen = t.look(*env);
  if (env->stopping.load(std::memory_order_acquire)) return fail_wait(&p, cancelled_error());
  if (!seen.others_first) return p.self;
  env->exec->post_later(p.self);  // from here on the task may be running on another worker
  return std::noop_coroutine();
}

}  // namespace sluice::lib
