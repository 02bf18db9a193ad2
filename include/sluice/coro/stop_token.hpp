// SPDX-License-Identifier: Apache-2.0
// Stopping a run: every environment has a std::stop_token, and a wait that is stopped fails with the code `cancelled`.
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
// A stop is not an end of a stream: a wait that is outstanding when the stop comes fails (promise.hpp), so no consumer
// mistakes a stopped stream for a finished one. An operation that is ready without suspending succeeds even after the
// stop. Waits that begin after the stop fail at once.
// Thread: a stop may be requested on any thread (run_context::request_stop, scope::request_stop).
#pragma once

#include <optional>
#include <stop_token>

#include "sluice/coro/promise.hpp"

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

namespace detail {

/// A stop callback as a member of an awaiter, armed only when the awaiter suspends: registering a callback costs about
/// 20 ns, which a wait that is ready should not pay.
/// Declare it as the last member of the awaiter, so that it is destroyed first: its destructor waits for a callback
/// that is running on another thread, and that callback may access the other members.
class stop_hook {
 public:
  using function = void (*)(void* self) noexcept;

  stop_hook() = default;
  stop_hook(const stop_hook&) = delete;
  stop_hook& operator=(const stop_hook&) = delete;
  /// Registers `f(self)`, which is called once, on the thread that requests the stop; within this call if the stop was
  /// requested already. Does nothing if the token can never be stopped. REQUIRES: not armed.
  void arm(const std::stop_token& token, function f, void* self) {
    if (token.stop_possible()) callback_.emplace(token, call(f, self));
  }
  /// After this call `f` is not running and will not be called any more. Blocks while `f` runs on another thread;
  /// called from within `f` it returns at once. REQUIRES: the caller has no lock that `f` takes.
  void disarm() noexcept { callback_.reset(); }

 private:
  class call {
   public:
    call(function f, void* self) noexcept : function_(f), self_(self) {}
    void operator()() const noexcept { function_(self_); }

   private:
    function function_;
    void* self_;
  };
  std::optional<std::stop_callback<call>> callback_;
};

}  // namespace detail
}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::check_stop;
using lib::this_environment;

}  // namespace sluice
