// SPDX-License-Identifier: Apache-2.0
// Runs several tasks at the same time and awaits all of them.
//
//   auto both = co_await when_all(std::move(a), std::move(b));    // std::tuple<A, B>; void becomes std::monostate
//   auto all = co_await when_all(std::move(tasks));               // std::vector<task<T>> → std::vector<T>
//
//   task<page> page_of(user_id id) {                              // takes as long as the slower one of the two
//     auto both = co_await when_all(name_of(id), picture_of(id));
//     co_return page{std::move(std::get<0>(both)), std::move(std::get<1>(both))};
//   }
//
// Use a `scope` for tasks that run at the same time as other code of the coroutine, or that should be stopped by each
// other's errors. Use `map` with parallelism for a stream of calls.
//
// Order:  the tasks after the first are posted to the executor and may run on other workers; then the first one starts
//         on the awaiting thread. The results are in the order of the arguments, whichever task ends first.
// Errors: when all tasks have ended, the co_await throws the error of the first task, in the order of the arguments,
//         that failed with another code than `cancelled`. If all errors are `cancelled`, it throws the first of these.
//         An error does not stop the other tasks; in a `scope` (coro/scope.hpp) it does.
// Cancel: the tasks share the awaiting coroutine's environment, so each of them notices a stop by itself.
// Thread: the awaiting coroutine is resumed on the thread on which the last task ends.
// Owns:   the tasks, until the co_await has finished. REQUIRES: the awaiting coroutine is not destroyed before.
// Cost:   one pooled frame and one post per task; an empty vector is ready without suspending.
#pragma once

#include <array>
#include <atomic>
#include <span>
#include <tuple>
#include <variant>
#include <vector>

#include "sluice/coro/task.hpp"

namespace sluice::lib {
namespace detail {

/// Counts the tasks of one when_all that have not ended. Part of the awaiter, and thus of the parent's frame.
class junction {
 public:
  /// Called once, before any of the tasks is posted.
  void start(promise_base& parent, std::size_t children) noexcept {
    parent_ = &parent;
    left_.store(static_cast<std::uint32_t>(children), std::memory_order_relaxed);  // published by posting the children
  }
  /// Called by each task when it has ended, on its thread. Returns the coroutine to resume: the last task resumes the
  /// parent (whose wait fails if a task has failed); the others resume none.
  // acq_rel: the last one sees the results of all others.
  std::coroutine_handle<> arrive() noexcept {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return std::noop_coroutine();
    status why = first_failure();
    return why.ok() ? parent_->self : fail_wait(parent_, std::move(why));
  }

 protected:
  ~junction() = default;
  virtual status first_failure() const noexcept = 0;
  void throw_if_failed() const {
    if (parent_) parent_->throw_if_failed();
  }

 private:
  promise_base* parent_ = nullptr;
  std::atomic<std::uint32_t> left_{0};
};

/// Keeps in `worst` the status to report: the first error, except that `cancelled` is replaced by any other error.
inline void prefer(status& worst, const status& next) noexcept {
  if (worst.ok() || (worst.code() == status_code::cancelled && !next.ok())) worst = next;
}

/// The coroutine that awaits one of the tasks, stores its outcome, and then arrives at the junction.
class child_frame {
 public:
  struct promise_type : promise_base, pooled_frame {
    junction* join = nullptr;
    child_frame get_return_object() noexcept {
      auto h = std::coroutine_handle<promise_type>::from_promise(*this);
      self = h;
      return child_frame(h);
    }
    struct final_awaiter {
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) const noexcept {
        return h.promise().join->arrive();
      }
      void await_resume() const noexcept {}
    };
    std::suspend_always initial_suspend() const noexcept { return {}; }
    final_awaiter final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };

  explicit child_frame(std::coroutine_handle<promise_type> h) noexcept : handle_(h) {}
  child_frame(child_frame&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  ~child_frame() {
    if (handle_) handle_.destroy();
  }
  void prepare(junction& join, environment* env) noexcept {
    handle_.promise().join = &join;
    handle_.promise().env = env;
  }
  std::coroutine_handle<> handle() const noexcept { return handle_; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

/// The result of one task: its value or its error.
template <class T> struct outcome {
  std::optional<T> value;
  status why;
  void keep(result<T>&& r) {
    if (r.ok()) value.emplace(std::move(*r));
    else why = r.why();
  }
  T take() { return std::move(*value); }
};
template <> struct outcome<void> {
  status why;
  void keep(status&& s) noexcept { why = std::move(s); }
  std::monostate take() const noexcept { return {}; }
};

template <class T> child_frame run_child(task<T> work, outcome<T>& into) {
  auto r = co_await work.as_result();
  into.keep(std::move(r));
}

/// Posts all children except the first, the last one first, and returns the first, for the calling thread to resume.
std::coroutine_handle<> fork(std::span<child_frame> children, junction& join, promise_base& parent) noexcept;

}  // namespace detail

/// Awaits a fixed number of tasks with results of several types.
template <class... Ts> class [[nodiscard]] when_all_awaiter final : detail::junction {
 public:
  explicit when_all_awaiter(task<Ts>&&... work)
      : when_all_awaiter(std::index_sequence_for<Ts...>(), std::move(work)...) {}
  when_all_awaiter(const when_all_awaiter&) = delete;
  when_all_awaiter& operator=(const when_all_awaiter&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) noexcept {
    return detail::fork(children_, *this, h.promise());
  }
  auto await_resume() {
    throw_if_failed();
    return std::apply([](auto&... o) { return std::make_tuple(o.take()...); }, outcomes_);
  }

 private:
  template <std::size_t... I>
  when_all_awaiter(std::index_sequence<I...>, task<Ts>&&... work)
      : children_{detail::run_child(std::move(work), std::get<I>(outcomes_))...} {}
  status first_failure() const noexcept override {
    status worst;
    std::apply([&](auto&... o) { (detail::prefer(worst, o.why), ...); }, outcomes_);
    return worst;
  }

  std::tuple<detail::outcome<Ts>...> outcomes_;
  std::array<detail::child_frame, sizeof...(Ts)> children_;
};

/// Awaits a vector of tasks with results of one type.
template <class T> class [[nodiscard]] when_all_range_awaiter final : detail::junction {
 public:
  explicit when_all_range_awaiter(std::vector<task<T>>&& work) : outcomes_(work.size()) {
    children_.reserve(work.size());
    for (std::size_t i = 0; i < work.size(); ++i)
      children_.push_back(detail::run_child(std::move(work[i]), outcomes_[i]));
  }
  when_all_range_awaiter(const when_all_range_awaiter&) = delete;
  when_all_range_awaiter& operator=(const when_all_range_awaiter&) = delete;

  bool await_ready() const noexcept { return children_.empty(); }
  template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) noexcept {
    return detail::fork(children_, *this, h.promise());
  }
  auto await_resume() {
    throw_if_failed();
    if constexpr (!std::is_void_v<T>) {
      std::vector<T> values;
      values.reserve(outcomes_.size());
      for (auto& o : outcomes_) values.push_back(o.take());
      return values;
    }
  }

 private:
  status first_failure() const noexcept override {
    status worst;
    for (auto& o : outcomes_) detail::prefer(worst, o.why);
    return worst;
  }

  std::vector<detail::outcome<T>> outcomes_;
  std::vector<detail::child_frame> children_;
};

/// `co_await when_all(…)` returns the results as a std::tuple.
template <class... Ts> when_all_awaiter<Ts...> when_all(task<Ts>... work) {
  return when_all_awaiter<Ts...>(std::move(work)...);
}
/// `co_await when_all(…)` returns the results as a std::vector, or nothing for task<void>.
template <class T> when_all_range_awaiter<T> when_all(std::vector<task<T>> work) {
  return when_all_range_awaiter<T>(std::move(work));
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::when_all;

}  // namespace sluice
