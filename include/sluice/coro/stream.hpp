// SPDX-License-Identifier: Apache-2.0
// A stream of T: the object that a consumer awaits, and the return type of a user's own source or transformation.
//
//   stream<std::string> words(stream<line> in) {                // a transformation is a coroutine
//     while (auto l = co_await in.next())
//       for (auto w : split(l->view())) co_yield std::string(w);
//   }
//   auto s = dataset.iterate(rt);
//   while (auto b = co_await s.next()) step(*b);                // the canonical loop
//
// next() returns a pointer to an element, which the caller may read, change or move from until its next call on this
// stream. It returns null at the end and at every call after the end. Elements travel in blocks, so within a block
// next() is ready at once.
// Errors: in a task, next() throws `error`. In a stage, an error of its input passes through without throwing and ends
//         the stage (promise.hpp). In both, try_next() returns the status instead. After an error the stream stays
//         failed. Misuse throws failed_precondition: next() while another coroutine's next() on this stream is
//         outstanding, or after the stream was moved from.
// Cancel: a stop makes the next fill fail with `cancelled`; a stop is never an end.
// State:  a user's stage resumes by replay from its start, which is correct but takes as long as the stage has run. It
//         resumes faster if it has the tag `stateless`, a `saved<S>` parameter, or calls commit() (saved.hpp).
// Inputs: a stage's streams are its parameters, in any number; or a std::vector of streams, whose size it does not
//         change. The position of each belongs to the stage's position.
// Limits: a stage's parameters may contain 4 saved<S>; more do not compile.
// Thread: one consumer at a time. While a next() is outstanding the stream may be stopped (request_stop), and nothing
//         else: it must not be moved, cleaned up or destroyed before its consumer has been resumed.
#pragma once

#include <coroutine>
#include <new>
#include <type_traits>
#include <utility>

#include "sluice/base/result.hpp"
#include "sluice/coro/checkpoint.hpp"
#include "sluice/coro/detail/frame_pool.hpp"
#include "sluice/coro/detail/must_be_awaited.hpp"
#include "sluice/coro/element_stage.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

template <class T> struct element_promise;

/// The awaiting side of a stream, and the type that next() returns. It is not a temporary object, which would live in
/// the awaiting frame and be written for every element.
template <class T> class next_awaiter : public detail::must_be_awaited<T, stream_base> {
  using base = detail::must_be_awaited<T, stream_base>;

 public:
  bool await_ready() const noexcept { return cur_ != end_; }
  template <class P> std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) {
    this->request_want_ = 0;
    return this->ask(h.promise());
  }
  T* await_resume() { return cur_ != end_ ? take_one() : take_after_fill(); }
  next_awaiter(const next_awaiter&) = SLUICE_DETAIL_CO_AWAIT_IS_MISSING;  // auto x = s.next(): co_await is missing

 protected:
  using base::base;
  using stream_base::child_;
  using stream_base::cur_;
  using stream_base::end_;
  next_awaiter() = default;
  next_awaiter(next_awaiter&&) noexcept = default;
  next_awaiter& operator=(next_awaiter&&) noexcept = default;
  explicit next_awaiter(stream_base&& other) noexcept : base(std::move(other)) {}

  T* take_one() {
    T* p = std::launder(reinterpret_cast<T*>(cur_));
    cur_ += sizeof(T);
    return p;
  }
  /// Returns null at the end. Throws if a task made the request and the stage failed.
  T* take_after_fill() {
    if (!child_) [[unlikely]]
      this->check_not_empty();  // it was moved away while we waited
    this->set_view();
    bool for_task = child_->waiter->is_task();
    if (for_task) this->end_task_fill();
    if (cur_ != end_) return take_one();
    if (for_task) this->throw_if_failed();
    return nullptr;
  }
};

struct run_report;

template <class T> class [[nodiscard]] stream : public next_awaiter<T> {
  friend struct detail::engine_access;

 public:
  using value_type = T;
  using promise_type = element_promise<T>;
  stream() = default;
  explicit stream(stream_base&& other) noexcept : next_awaiter<T>(std::move(other)) {}
  explicit stream(stage_base* child) : next_awaiter<T>(child) {}
  explicit operator bool() const { return stream_base::operator bool(); }

  /// The result of try_next: the element, or null and the reason (ok means the end).
  struct attempt {
    T* element = nullptr;
    status why;
    explicit operator bool() const { return element != nullptr; }
    T& operator*() const { return *element; }
    T* operator->() const { return element; }
  };
  struct try_awaiter : detail::must_be_awaited<T> {
    explicit try_awaiter(stream& from) : s(from) {}
    stream& s;
    bool await_ready() const noexcept { return s.await_ready(); }
    template <class P> std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) const {
      h.promise().catching = true;
      return s.await_suspend(h);
    }
    attempt await_resume() const {
      if (s.cur_ == s.end_) {
        s.check_not_empty();
        s.child_->waiter->catching = false;
        s.set_view();
        s.end_task_fill();
        if (s.cur_ == s.end_) return {nullptr, s.child_->failure};
      }
      return {s.take_one(), {}};
    }
  };

#if defined(__clang__)
  using next_call = next_awaiter<T>&;
#else
  struct next_call : detail::must_be_awaited<T> {  // g++ 12 would copy an awaiter that a function returns by reference
    next_call(next_awaiter<T>& from) : s(from) {}  // NOLINT(google-explicit-constructor)
    next_awaiter<T>& s;
    bool await_ready() const noexcept { return s.await_ready(); }
    template <class P> std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) const {
      return s.await_suspend(h);
    }
    T* await_resume() const { return s.await_resume(); }
  };
#endif
  [[nodiscard]] next_call next() { return {*this}; }
  [[nodiscard]] try_awaiter try_next() { return try_awaiter(*this); }

  /// The position from which the next element is made again. Only between calls. Cost: some hundred nanoseconds. The
  /// size in bytes depends on the plan and its nondeterministic choices, not on buffers.
  checkpoint position() { return this->sealed_position(); }
  /// Returns the counts of the run so far, and the verdict on it (pipeline/iterate.hpp). Only between calls.
  run_report report() const;
  /// Asks all stages upstream to stop; the next fill fails with `cancelled`. Thread: any.
  void request_stop() noexcept {
    if (this->run_) this->run_->request_stop();
  }
};

/// The promise of a user's stage.
template <class T> struct element_promise final : element_stage, detail::pooled_frame {
  static constexpr bool kElementStage = true;

  element_promise() : element_promise(nothing_) {}
  template <class... A> explicit element_promise(A&... parameters) : element_stage(type_of<T>()) {
    check_parameters<A...>();
    self = std::coroutine_handle<element_promise>::from_promise(*this);
    on_error = on_failure::throws_but_for_input;
    (register_parameter(parameters), ...);
    parameters_end();
  }
  element_promise(const element_promise&) = delete;

  stream<T> get_return_object() { return stream<T>(static_cast<stage_base*>(this)); }
  std::suspend_always initial_suspend() const noexcept { return {}; }
  struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<element_promise> h) const noexcept {
      return h.promise().leave_stage();
    }
    void await_resume() const noexcept {}
  };
  final_awaiter final_suspend() const noexcept { return {}; }
  void return_void() noexcept { end(); }
  void unhandled_exception() noexcept { fail_with_current_exception(current_element()); }

  struct yield_awaiter {
    element_promise* p;
    bool await_ready() const noexcept { return p->put_ != p->limit_; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) const { return p->limit_reached(h); }
    void await_resume() const noexcept {}
  };
  // On g++ 12 never co_yield a braced aggregate: it is destroyed twice (docs/internals/hazards.md). Name it, then
  // move it.
  yield_awaiter yield_value(T&& element) {
    ::new (static_cast<void*>(put_)) T(std::move(element));
    put_ += sizeof(T);
    return {this};
  }
  yield_awaiter yield_value(const T& element)
    requires std::is_copy_constructible_v<T>
  {
    ::new (static_cast<void*>(put_)) T(element);
    put_ += sizeof(T);
    return {this};
  }

 private:
  struct nothing {};
  static inline nothing nothing_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::stream;

}  // namespace sluice
