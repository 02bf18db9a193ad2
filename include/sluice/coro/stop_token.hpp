// SPDX-License-Identifier: Apache-2.0
// Stopping a run. Every environment has a stop_signal (coro/stop_signal.hpp), which is a std::stop_token. A stopped
// wait fails with the code `cancelled`.
//
//   environment& env = *co_await this_environment();
//   co_await check_stop();                      // in a long computation: throws `cancelled` once stopped
//
//   task<std::uint64_t> count_primes(std::uint64_t n) {
//     std::uint64_t primes = 0;
//     for (std::uint64_t i = 2; i < n; ++i) {
//       if (i % 4096 == 0) co_await check_stop();   // a computation that never waits would not notice a stop
//       primes += is_prime(i);
//     }
//     co_return primes;
//   }
//
// A stop is not the end of a stream: a wait that is outstanding when the stop comes fails (promise.hpp), so no consumer
// mistakes a stopped stream for a finished one. An operation that is ready without suspending succeeds even after the
// stop. A wait that begins after the stop fails at once.
// Thread: a stop may be requested on any thread (run_context::request_stop, scope::request_stop).
#pragma once

#include "sluice/coro/detail/promise.hpp"
#include "sluice/coro/stop_signal.hpp"

namespace sluice::lib {

/// `co_await this_environment()` → environment*, without suspending.
class [[nodiscard]] this_environment {
 public:
  bool await_ready() const noexcept { return false; }
  template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
    env_ = h.promise().env;
    return false;
  }
  environment* await_resume() const noexcept { return env_; }

 private:
  environment* env_ = nullptr;
};

/// `co_await check_stop()` fails with `cancelled` if a stop was requested; otherwise it does nothing, without
/// suspending.
/// Cost: one atomic load.
class [[nodiscard]] check_stop {
 public:
  bool await_ready() const noexcept { return false; }
  template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) noexcept {
    promise_ = &h.promise();
    if (!promise_->env->stop.stop_requested()) return h;
    return fail_wait(promise_, cancelled_error());
  }
  void await_resume() const { promise_->throw_if_failed(); }

 private:
  promise_base* promise_ = nullptr;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::check_stop;
using lib::this_environment;

}  // namespace sluice
