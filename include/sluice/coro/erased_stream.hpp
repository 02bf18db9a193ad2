// SPDX-License-Identifier: Apache-2.0
// Streams of elements known by their descriptor, and the coroutines that make them: the engine's own currency.
//
// A built-in operator is a loop over blocks. It is compiled once, in a .cpp, for every element type:
//
//   erased_stream take_loop(outlet out, saved<std::uint64_t> left, erased_stream in) {
//     while (*left) {
//       std::uint64_t passed = out.pass(*left - 1);            // a request always asks for one: rule of demand
//       auto b = co_await in.next_block({.skip = passed, .elements = out.wanted_of(*left - passed)});
//       if (!b) { out.unpass(in.skip_left()); break; }         // what did not exist goes back to the requester
//       *left -= passed + b.size();                            // every saved value is up to date at each co_yield
//       co_yield b;
//     }
//   }
//
// Rules for such a stage: `saved` values are right at every co_yield; anything else in a local can be recomputed;
// output made and not yet yielded is told to the outlet (`hold`), so that an error passing through delivers it first. So
// is a bad element that is dropped (`drop`): the run counts it where it stands among the elements.
//
// A stage whose output is not its input's blocks goes along its input with a cursor: `ready` asks for elements, `left` and
// `peek` tell what is there, `drop`, `move_to` and `take` consume from the front, any number of times and in any order:
//
//   while (co_await in.ready({.elements = out.wanted()})) {
//     std::uint32_t n = std::min(out.wanted(), in.left());
//     in.move_to(out.room(n), n);
//     co_yield out.made(n);
//   }
#pragma once

#include <coroutine>
#include <utility>

#include "sluice/base/assert.hpp"
#include "sluice/coro/detail/frame_pool.hpp"
#include "sluice/coro/outlet.hpp"
#include "sluice/coro/stream_base.hpp"

namespace sluice::lib {

struct block_promise;

/// Elements to look at: what of a stream's current view is not consumed yet. They stay the stream's.
class element_view {
 public:
  element_view() = default;
  element_view(char* data, std::uint32_t size, std::size_t element_bytes)
      : data_(data), size_(size), element_bytes_(element_bytes) {}

  std::uint32_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  char* data() const noexcept { return data_; }  ///< null where it is empty
  char* at(std::size_t i) const noexcept { return data_ + i * element_bytes_; }
  template <class T> T* as() const noexcept { return std::launder(reinterpret_cast<T*>(data_)); }

 private:
  char* data_ = nullptr;
  std::uint32_t size_ = 0;
  std::size_t element_bytes_ = 0;
};

/// A stream whose consumer is a built-in stage, or whoever has no C++ type for its elements.
///
/// The cursor. Between two calls each element that the input has handed over is either in the current view, where `left`
/// counts it, or is gone: destroyed, moved out, or given to the caller by next_block, take or next(). What the caller was
/// given is its own until its next call on this stream, which destroys what is left of it. drop, move_to and take accept 0
/// elements, and at the end or before the first request there are 0; a request for 0 is one for 1 (demand.hpp).
class [[nodiscard]] erased_stream : public stream_base {
 public:
  using promise_type = block_promise;
  using stream_base::stream_base;
  erased_stream() = default;
  explicit erased_stream(stream_base&& other) noexcept : stream_base(std::move(other)) {}
  /// A typed one, its type forgotten.
  template <class T>
  explicit erased_stream(detail::must_be_awaited<T, stream_base>&& typed) noexcept
      : stream_base(std::move(detail::engine_access::of(typed))) {}

  // Awaiters are one word, and requests are kept in the stream: g++ 12 makes anything fatter eight times slower.
  struct fill_awaiter {
    erased_stream& s;
    bool await_ready() const noexcept { return s.cur_ != s.end_; }
    template <class P> std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) const {
      return s.ask(h.promise());
    }
  };
  struct block_awaiter : fill_awaiter {
    block await_resume() const { return s.take_view(); }
  };
  struct ready_awaiter : fill_awaiter {
    bool await_resume() const {
      if (s.cur_ == s.end_) s.take_up();
      return s.cur_ != s.end_;
    }
  };

  /// A view of 1..elements elements; empty at the end. In a task it throws `error`; in a stage an error unwinds.
  /// The same as ready(d), then take(d.elements), at least one.
  block_awaiter next_block(demand d) {
    request(d);
    return {{*this}};
  }
  /// Passes over d.skip elements from here on, the first of them out of what is left of the current view; then makes at
  /// least one element ready and consumes none. d.elements bounds what the input is asked for, not left(): where something
  /// is left of the view, nothing is asked for. False at the end.
  ready_awaiter ready(demand d) {
    request(d);
    return {{*this}};
  }

  struct attempt {
    block view;
    status why;  ///< ok, with an empty view: the end
  };
  class try_awaiter : public fill_awaiter {
   public:
    explicit try_awaiter(erased_stream& from) : fill_awaiter{from} {}
    template <class P> std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) {
      h.promise().catching = true;
      return s.ask(h.promise());
    }
    attempt await_resume() const {
      if (s.cur_ == s.end_) {
        s.child_->waiter->catching = false;
        s.asked_.store(false, std::memory_order_relaxed);
        s.set_view();
      }
      attempt a{s.cur_ == s.end_ ? block() : s.take_view(), {}};
      if (!a.view) a.why = s.child_->failure;
      return a;
    }
  };
  /// As next_block, but opts out of unwinding.
  try_awaiter try_next_block(demand d) {
    request(d);
    return try_awaiter(*this);
  }

  /// What is left of the current view.
  element_view peek() const {
    std::uint32_t n = left();
    return {n ? cur_ : nullptr, n, element_bytes_};
  }
  /// Destroys the next n elements. REQUIRES: n <= left().
  void drop(std::uint32_t n);
  /// Moves the next n elements, or as many as are left, to uninitialised room at `to`; returns how many.
  std::uint32_t move_to(char* to, std::uint32_t n) { return move_to(to, n, element_bytes_); }
  /// The same, one to each stride_bytes.
  std::uint32_t move_to(char* to, std::uint32_t n, std::size_t stride_bytes);
  /// The next n elements, or as many as are left; empty where none is.
  block take(std::uint32_t n);

 private:
  void request(const demand& d) {
    request_skip_ = d.skip;
    request_want_ = d.elements ? d.elements : 1;
    request_bytes_ = d.bytes;
    if (cur_ != end_ && d.skip) [[unlikely]]
      skip_within_view();
  }
  block take_view() {
    if (cur_ != end_) return take(request_want_);
    stage_base* c = child_;
    block all;
    all.view_of(c->handed_);
    if (all.size() - 1 < request_want_ && !c->waiter->is_task()) [[likely]] {  // not empty, and taken as a whole
      took_up(all.size());
      c->handed_ = block{};
      view_owner_ = all.owner();
      cur_ = end_ = all.data() + std::size_t{all.size()} * element_bytes_;
      return all;
    }
    return take_odd_view();
  }
  /// After a fill: the view, or throws where a task asked and there is none but an error.
  void take_up();
  /// The view is more than was asked for, or none, or goes to a task.
  block take_odd_view();
  /// The request passes over elements, and some are left of the view: those go first.
  void skip_within_view();
  /// Destroys what was given to the caller out of the current view and is still there, so that what is left of the view
  /// is its owner's front. REQUIRES: left() > 0.
  void settle() {
    SLUICE_REQUIRES(left() > 0, "no view is left");
    if (view_owner_->begin() != cur_) destroy_given();
  }
  void destroy_given();
};

/// The promise of a block stage.
struct block_promise final : block_stage, detail::pooled_frame {
  static constexpr bool kBlockStage = true;

  template <class... A> explicit block_promise(outlet& out, A&... parameters) : block_stage(out.type()) {
    check_parameters<A...>();
    out.stage_ = this;
    self = std::coroutine_handle<block_promise>::from_promise(*this);
    (register_parameter(parameters), ...);
  }
  block_promise(const block_promise&) = delete;

  erased_stream get_return_object() { return erased_stream(static_cast<stage_base*>(this)); }
  std::suspend_always initial_suspend() const noexcept { return {}; }
  struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<block_promise> h) const noexcept {
      return leave(&h.promise());
    }
    void await_resume() const noexcept {}
  };
  final_awaiter final_suspend() const noexcept { return {}; }
  void return_void() noexcept { end(); }
  void unhandled_exception() noexcept { fail_with_current_exception(provenance::kUnknown); }

  struct yield_awaiter {
    block_promise* p;  // null: all of it was passed over, go on
    bool await_ready() const noexcept { return p == nullptr; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> me) const noexcept {
      if (p->handed_.empty()) [[unlikely]]
        return p->passed_all(me);
      return p->waiter->self;
    }
    void await_resume() const noexcept {}
  };
  yield_awaiter yield_value(const block& b) {
    held_ = block{};
    handed_.view_of(b);
    if (skip_) [[unlikely]] {
      if (!pass_yielded() && !must_yield() && !turn_.step()) return {nullptr};
    }
    return {this};
  }
};

}  // namespace sluice::lib
