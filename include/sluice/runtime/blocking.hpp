// SPDX-License-Identifier: Apache-2.0
// Calls a blocking function on a thread that is not a worker, and awaits its result.
//
//   auto names = co_await blocking(rt.blocking_calls(), list_directory);       // the result of list_directory()
//
// Errors: an exception of the function is thrown by the co_await.
// Cancel: a call that has begun cannot be stopped; after a stop the co_await still waits for its end.
// Thread: the function runs on one of the service's threads; the awaiting coroutine is resumed on its executor.
// Owns:   the function and its result, in the awaiting frame.
#pragma once

#include <coroutine>
#include <optional>
#include <type_traits>
#include <utility>

#include "sluice/coro/detail/promise.hpp"

namespace sluice::lib {

/// The time in which a call waits for a thread. It belongs to the stage that awaits the call, or for which a task
/// awaits it.
class thread_wait {
 public:
  /// The call is submitted.
  void begin(const environment& env) noexcept;
  /// A thread has taken the call. Without this call, the wait took no time.
  void end(const environment& env) noexcept;
  /// Adds the time to the counters of the stage. REQUIRES: the call has ended, and `caller` is running again.
  void count(promise_base& caller) const noexcept;

 private:
  time_point began_{}, ended_{};
};

/// A submitted call; part of the frame that awaits it.
struct blocking_call {
  /// Calls the function, and posts the coroutine. When this returns, the call may no longer exist.
  void (*run)(blocking_call&) noexcept = nullptr;
  blocking_call* next = nullptr;  ///< used by the service
  environment* env = nullptr;     ///< null: nobody counts the wait
  thread_wait wait;               ///< the service calls its end()
};

/// Executes blocking calls: a pool of threads, or a simulation, which executes them at some later virtual time, on any
/// number of threads.
class blocking_service {
 public:
  /// Arranges that `call.run(call)` is called once, later, on a thread of the service. Thread: any.
  virtual void submit(blocking_call& call) = 0;

 protected:
  ~blocking_service() = default;
};

template <class F> class [[nodiscard]] blocking final : blocking_call {
  using returned = std::invoke_result_t<F&>;
  using kept = std::conditional_t<std::is_void_v<returned>, bool, returned>;  // bool is unused

 public:
  blocking(blocking_service& service, F function) : service_(service), function_(std::move(function)) {}
  blocking(const blocking&) = delete;
  blocking& operator=(const blocking&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class Promise> void await_suspend(std::coroutine_handle<Promise> h) {
    promise_ = &h.promise();
    handle_ = h;
    env = promise_->env;
    run = &blocking::call;
    wait.begin(*env);
    service_.submit(*this);
  }
  returned await_resume() {
    wait.count(*promise_);
    promise_->throw_if_failed();
    if constexpr (!std::is_void_v<returned>) return std::move(*value_);
  }

 private:
  static void call(blocking_call& self) noexcept {
    auto& me = static_cast<blocking&>(self);
    status why;
    try {
      if constexpr (std::is_void_v<returned>) me.function_();
      else me.value_.emplace(me.function_());
    } catch (...) { why = current_exception_status(); }
    executor* exec = me.env->exec;
    std::coroutine_handle<> next = me.handle_;
    if (!why.ok()) next = fail_wait(me.promise_, std::move(why));
    exec->post(next);  // the last access: after it the frame may be resumed and destroyed
  }

  blocking_service& service_;
  F function_;
  std::optional<kept> value_;
  promise_base* promise_ = nullptr;
  std::coroutine_handle<> handle_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::blocking;

}  // namespace sluice
