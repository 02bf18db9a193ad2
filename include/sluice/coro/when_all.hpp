// SPDX-License-Identifier: Apache-2.0
// Several tasks at once, awaited together.
//
//   auto both = co_await when_all(std::move(a), std::move(b));    // std::tuple<A, B>; void becomes std::monostate
//   auto all = co_await when_all(std::move(tasks));               // std::vector<task<T>> → std::vector<T>
//
// Order:  the first starts here and now, the others are posted first and may run on other workers.
// Errors: waits for all of them, then throws the error of the first (in argument order) that was not `cancelled`,
//         or was, when nothing worse happened. Siblings of a failed task run on; a `scope` stops them.
// Cancel: the tasks share the awaiter's environment and see its stop themselves.
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

/// Counts the children of one when_all; the last to arrive resumes the parent, or fails its wait.
class junction {
 public:
  void start(promise_base& parent, std::size_t children) noexcept {
    parent_ = &parent;
    left_.store(static_cast<std::uint32_t>(children), std::memory_order_relaxed);  // published by posting the children
  }
  // acq_rel: the last one must see the results of all the others.
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

inline void prefer(status& worst, const status& next) noexcept {
  if (worst.ok() || (worst.code() == status_code::cancelled && !next.ok())) worst = next;
}

/// The coroutine around one child: it waits for the task and then arrives.
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

/// Posts all but the first, last one first, and returns the first, to go on with here.
std::coroutine_handle<> fork(std::span<child_frame> children, junction& join, promise_base& parent) noexcept;

}  // namespace detail

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

template <class... Ts> when_all_awaiter<Ts...> when_all(task<Ts>... work) {
  return when_all_awaiter<Ts...>(std::move(work)...);
}
template <class T> when_all_range_awaiter<T> when_all(std::vector<task<T>> work) {
  return when_all_range_awaiter<T>(std::move(work));
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::when_all;

}  // namespace sluice
