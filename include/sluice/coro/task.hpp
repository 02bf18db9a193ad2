// SPDX-License-Identifier: Apache-2.0
// A lazy coroutine with one result.
//
//   task<std::int64_t> size_of(std::string path) { … co_return n; }
//   auto n = co_await size_of(path);                  // throws what it failed with
//   auto r = co_await size_of(path).as_result();      // result<std::int64_t>: we look at the error ourselves
//
// Starts when awaited, on the awaiting thread; awaited at most once. Inherits the awaiter's environment.
// Errors: in a task, whatever fails throws at its co_await: another task, stream.next(), a sleep, a channel, when_all, a
//   scope's join; also a stop, as `error` with the code cancelled. What a task throws, its awaiter gets: an `error` with
//   its status, code and provenance, any other exception as it was thrown. as_result() gives a status instead.
//   Catching goes on as in any function; after a stop, the next wait fails with `cancelled` again.
// Cost: an error costs about one C++ exception (some microseconds) for each task that it passes; success pays nothing.
// Owns: its frame, from a per-thread free list. Destroyed unstarted or finished; never while it runs.
#pragma once

#include <coroutine>
#include <optional>
#include <utility>

#include "sluice/base/result.hpp"
#include "sluice/coro/frame_pool.hpp"
#include "sluice/coro/must_be_awaited.hpp"
#include "sluice/coro/promise.hpp"

namespace sluice::lib {

template <class T> class task;

namespace detail {

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
  /// Awaits without throwing: result<T>, or status for task<void>.
  result_awaiter as_result() const noexcept { return result_awaiter(handle_); }

  /// For schedulers and scopes, which start a task by hand.
  handle release() noexcept { return std::exchange(handle_, {}); }
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

// What users write.
using lib::task;

}  // namespace sluice
