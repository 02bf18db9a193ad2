// SPDX-License-Identifier: Apache-2.0
// A lazy coroutine with one result.
//
//   task<std::int64_t> size_of(std::string path) { … co_return n; }
//   auto n = co_await size_of(path);                  // throws what it failed with
//   auto r = co_await size_of(path).as_result();      // result<std::int64_t>: we look at the error ourselves
//
//   task<std::string> first_line(std::string path) {  // errors are handled as in a function
//     try {
//       auto text = co_await read_text(path);
//       co_return text.substr(0, text.find('\n'));
//     } catch (const error& e) {
//       if (e.code() != status_code::not_found) throw;
//     }
//     co_return "";
//   }
//
// Parameters are moved or copied into the coroutine's frame, so take them by value: a reference must stay valid until
// the task has ended. A coroutine must not be a lambda with captures (docs/internals/hazards.md).
//
// A task does nothing until it is awaited. It then starts at once, on the awaiting thread, and inherits the environment
// (executor, clock, stop token) of the coroutine that awaits it. It can be awaited once.
//
// Errors: an operation that fails in a task throws at its co_await: another task, stream.next(), a sleep, a channel,
//         when_all, a scope's join. A stop throws `error` with the code cancelled. An exception that leaves a task is
//         thrown again where the task is awaited: an `error` with its status, code and provenance, any other exception
//         with its own type. as_result() returns a status instead. A task that catches the `cancelled` of a stop may
//         continue, but its next wait fails with `cancelled` again.
// Cancel: a task is not interrupted. A stop takes effect at its next wait, or at `co_await check_stop()`.
// Thread: started on the thread of its awaiter. After a wait it continues on a worker of its executor, perhaps another
//         one.
// Owns:   its frame, whose memory comes from a per-thread free list. A task may be destroyed before it is awaited or
//         after it has ended, and never in between. `scope` and `when_all` ensure that for tasks that run at the same
//         time.
// Cost:   some nanoseconds for a task that does not wait; an error costs about one C++ exception (some microseconds)
//         for each task that it passes.
#pragma once

#include <coroutine>
#include <optional>
#include <utility>

#include "sluice/base/result.hpp"
#include "sluice/coro/detail/frame_pool.hpp"
#include "sluice/coro/detail/must_be_awaited.hpp"
#include "sluice/coro/detail/promise.hpp"

namespace sluice::lib {

template <class T> class task;

namespace detail {

/// The parts of a task's promise that do not depend on its result. The task is suspended at the start until it is
/// awaited. At the end it resumes the coroutine that awaits it, directly and without the executor (symmetric transfer).
struct task_promise_base : promise_base, pooled_frame {
  std::suspend_always initial_suspend() const noexcept { return {}; }
  struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    template <class P> std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) const noexcept {
      return leave_task(&h.promise());
    }
    void await_resume() const noexcept {}
  };
  final_awaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { failure = current_exception_status(); }
};

template <class T> struct task_promise final : task_promise_base {
  std::optional<T> value;
  task<T> get_return_object() noexcept;
  template <class U = T> void return_value(U&& v) { value.emplace(std::forward<U>(v)); }
  result<T> take() { return failure.ok() ? result<T>(std::move(*value)) : result<T>(failure); }
};

template <> struct task_promise<void> final : task_promise_base {
  task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  status take() const { return failure; }
};

}  // namespace detail

/// A handle that owns the coroutine. Move-only; a moved-from task may only be assigned to or destroyed.
template <class T = void> class [[nodiscard]] task : public detail::must_be_awaited<T> {
 public:
  using promise_type = detail::task_promise<T>;
  using value_type = T;
  using handle = std::coroutine_handle<promise_type>;

  explicit task(handle h) noexcept : handle_(h) {}
  task(task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  task& operator=(task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~task() {
    if (handle_) handle_.destroy();
  }
  using awaited = std::conditional_t<std::is_void_v<T>, detail::nothing, T>;
  operator awaited() const = SLUICE_DETAIL_CO_AWAIT_IS_MISSING;  // T x = a_task(): co_await is missing

  /// The awaiter of `co_await t`: starts the task, moves its value out, and throws its error.
  class awaiter {
   public:
    explicit awaiter(handle h) noexcept : child_(h) {}
    bool await_ready() const noexcept { return false; }
    template <class P> std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) noexcept {
      child_.promise().waiter = &h.promise();
      child_.promise().env = h.promise().env;
      return child_;
    }
    T await_resume() const {
      if (!child_.promise().failure.ok()) [[unlikely]]
        throw_status(child_.promise().failure);
      if constexpr (!std::is_void_v<T>) return std::move(*child_.promise().value);
    }

   protected:
    handle child_;
  };
  /// The awaiter of `co_await t.as_result()`: returns the value or the error.
  class result_awaiter : public awaiter {
   public:
    using awaiter::awaiter;
    template <class P> std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) noexcept {
      parent_ = &h.promise();
      parent_->catching = true;
      return awaiter::await_suspend(h);
    }
    auto await_resume() const {
      parent_->catching = false;
      return this->child_.promise().take();
    }

   private:
    promise_base* parent_ = nullptr;
  };

  awaiter operator co_await() const noexcept { return awaiter(handle_); }
  /// `co_await t.as_result()` does not throw: it returns a result<T>, or a status for task<void>. REQUIRES: the task
  /// object lives until the co_await has finished.
  result_awaiter as_result() const noexcept { return result_awaiter(handle_); }

  /// Releases ownership: the caller must start the coroutine and destroy its frame.
  handle release() noexcept { return std::exchange(handle_, {}); }
  /// The coroutine; this task still owns it.
  handle get() const noexcept { return handle_; }

 private:
  handle handle_;
};

namespace detail {
template <class T> task<T> task_promise<T>::get_return_object() noexcept {
  auto h = std::coroutine_handle<task_promise>::from_promise(*this);
  self = h;
  return task<T>(h);
}
inline task<void> task_promise<void>::get_return_object() noexcept {
  auto h = std::coroutine_handle<task_promise>::from_promise(*this);
  self = h;
  return task<void>(h);
}
}  // namespace detail

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::task;

}  // namespace sluice
