// SPDX-License-Identifier: Apache-2.0
// Stopping: one std::stop_token runs through a run, and whoever waits lets go of the wait.
//
//   environment& env = *co_await this_environment();
//   co_await check_stop();                      // in a long computation: throws `cancelled` once stopped
//
// A stop is not an end: what waits when it comes fails with cancelled_error() (promise.hpp), so no consumer takes a
// stopped stream for a finished one. A wait that needs no suspension succeeds even when stopped.
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

/// `co_await check_stop()` fails with `cancelled` when a stop was requested; else goes straight on.
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

/// A stop callback that an awaiter arms when it really suspends: registering costs about 20 ns, so a ready wait must
/// not pay it. Declare it last in the awaiter: its destructor waits for a callback that runs on another thread, and
/// that callback may still look at the members before it.
class stop_hook {
 public:
  using function = void (*)(void* self) noexcept;

  stop_hook() = default;
  stop_hook(const stop_hook&) = delete;
  stop_hook& operator=(const stop_hook&) = delete;
  /// `f(self)` runs once when the stop comes, here and now if it has come already.
  void arm(const std::stop_token& token, function f, void* self) {
    if (token.stop_possible()) callback_.emplace(token, call(f, self));
  }
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
