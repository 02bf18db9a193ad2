// SPDX-License-Identifier: Apache-2.0
// Calls that block a thread, away from the workers.
//
//   auto names = co_await blocking(rt.blocking_calls(), list_directory);       // what the function returns
//
// Errors: what the function throws, the co_await throws.
// Cancel: a call that has begun cannot be stopped; the wait lasts as long as the call does.
// Thread: the function runs on a thread of its own; the awaiter resumes on its executor.
#pragma once

#include <coroutine>
#include <optional>
#include <type_traits>
#include <utility>

#include "sluice/coro/promise.hpp"

namespace sluice::lib {

/// One call on its way; lives in the frame that waits.
struct blocking_call {
  void (*run)(blocking_call&) noexcept = nullptr;
  blocking_call* next = nullptr;
  environment* env = nullptr;
};

/// Runs calls on threads of its own, or, simulated, at some later virtual time.
class blocking_service {
 public:
  virtual void submit(blocking_call& call) = 0;

 protected:
  ~blocking_service() = default;
};

template <class F> class [[nodiscard]] blocking final : blocking_call {
  using returned = std::invoke_result_t<F&>;
  using kept = std::conditional_t<std::is_void_v<returned>, bool, returned>;  // of void nothing is kept

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
    service_.submit(*this);
  }
  returned await_resume() {
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
    exec->post(next);  // a statement of its own: by now nothing here refers to the status or the frame
  }

  blocking_service& service_;
  F function_;
  std::optional<kept> value_;
  promise_base* promise_ = nullptr;
  std::coroutine_handle<> handle_;
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::blocking;

}  // namespace sluice
