// SPDX-License-Identifier: Apache-2.0
// Runs a task from a function that is not a coroutine, such as main(), and blocks until it has ended.
//
//   auto n = sync_wait(env, count_words(path));      // returns the value, or throws the task's error
//
//   status why = sync_wait_result(env, copy(from, to));      // the same without exceptions
//
// Errors: that of the task (throw_status). failed_precondition if called on a worker of the executor, because blocking
//         it could take away the thread that the task needs. failed_precondition if the executor is a simulation in
//         which no coroutine is ready and no timer is armed while the task has not ended: a deadlock.
// Cancel: a stop of `env` stops the task, which then fails with `cancelled`; the call itself waits for the task's end.
// Thread: blocks the caller. The task runs on the environment's executor from its first line on; over a simulation,
//         that is within this call, on the calling thread.
// Owns:   the task and its frame, which are destroyed before the call returns.
// See:    runtime/runtime.hpp for sync_wait(runtime&, task).
#pragma once

#include <exception>
#include <optional>
#include <utility>

#include "sluice/coro/task.hpp"

namespace sluice::lib {
namespace detail {

/// An event that one thread sets and another waits for (in the source).
class completion;
/// At most once. Does not access the event after the waiting thread can see that it is set.
void set(completion& done) noexcept;

/// The coroutine that awaits the task of a sync_wait. No coroutine awaits it; it sets a completion when it ends.
class root_frame {
 public:
  struct promise_type : promise_base, pooled_frame {
    completion* done = nullptr;
    root_frame get_return_object() noexcept {
      auto h = std::coroutine_handle<promise_type>::from_promise(*this);
      self = h;
      return root_frame(h);
    }
    struct final_awaiter {
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> h) const noexcept {
        set(*h.promise().done);  // from here on the waiting thread may destroy the frame
      }
      void await_resume() const noexcept {}
    };
    std::suspend_always initial_suspend() const noexcept { return {}; }
    final_awaiter final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };

  explicit root_frame(std::coroutine_handle<promise_type> h) noexcept : handle_(h) {}
  root_frame(const root_frame&) = delete;
  root_frame& operator=(const root_frame&) = delete;
  ~root_frame() { handle_.destroy(); }
  /// Posts the coroutine to the executor and blocks until it has ended. At most once. Errors: failed_precondition, as
  /// above.
  void run(environment& env);

 private:
  std::coroutine_handle<promise_type> handle_;
};

template <class Result, class T> root_frame keep_result(task<T>& work, std::optional<Result>& into) {
  auto r = co_await work.as_result();
  into.emplace(std::move(r));
}

}  // namespace detail

/// As sync_wait, but returns an error of the task instead of throwing it: result<T>, or a status for task<void>.
template <class T> auto sync_wait_result(environment& env, task<T> work) {
  using result_type =
      std::conditional_t<std::is_void_v<T>, status, result<std::conditional_t<std::is_void_v<T>, int, T>>>;
  std::optional<result_type> r;
  detail::keep_result<result_type, T>(work, r).run(env);
  return std::move(*r);
}

/// Runs `work` in the environment and returns its value.
template <class T> T sync_wait(environment& env, task<T> work) {
  auto r = sync_wait_result(env, std::move(work));
  if constexpr (std::is_void_v<T>) {
    if (!r.ok()) throw_status(r);
  } else {
    return std::move(r).value();
  }
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::sync_wait;
using lib::sync_wait_result;

}  // namespace sluice
