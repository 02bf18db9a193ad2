// SPDX-License-Identifier: Apache-2.0
// From ordinary code into coroutines: start a task and block until it is done.
//
//   auto n = sync_wait(env, count_words(path));      // the value, or throws what the task failed with
//
// Errors: a failed task is thrown (throw_status). failed_precondition when called on a worker of the executor, where
//         blocking would take away the thread that the task needs, and when a simulation is stuck.
// Thread: blocks the caller; the task runs on the environment's executor from its first line on.
#pragma once

#include <condition_variable>
#include <mutex>

#include "sluice/coro/task.hpp"

namespace sluice::lib {
namespace detail {

/// Set once; the waiter may destroy it as soon as wait() returns.
class completion {
 public:
  void set();
  bool is_set() const;
  void wait();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

/// The coroutine at the top of the waiting: nobody awaits it, it sets a completion when it ends.
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
        h.promise().done->set();  // the frame belongs to the waiting thread from here on
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
  /// Posts it and blocks until it has ended.
  void run(environment& env);

 private:
  std::coroutine_handle<promise_type> handle_;
};

template <class Result, class T> root_frame keep_result(task<T>& work, std::optional<Result>& into) {
  auto r = co_await work.as_result();
  into.emplace(std::move(r));
}

}  // namespace detail

/// As sync_wait, but the failure is in the result: result<T>, or status for task<void>.
template <class T> auto sync_wait_result(environment& env, task<T> work) {
  using result_type =
      std::conditional_t<std::is_void_v<T>, status, result<std::conditional_t<std::is_void_v<T>, int, T>>>;
  std::optional<result_type> r;
  detail::keep_result<result_type, T>(work, r).run(env);
  return std::move(*r);
}

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
