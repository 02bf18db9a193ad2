// SPDX-License-Identifier: Apache-2.0
// Streams of elements known only by their descriptor, and the coroutines that make them. The engine works with these.
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
// Rules for such a stage: each `saved` value is right at every co_yield. The stage can recompute every other local
// variable. Output that is made and not yielded yet is registered with the outlet (`hold`), so that it is delivered
// before an error that passes through. A bad element that is dropped is registered too (`drop`): the run counts it at
// its place among the elements.
//
// A stage whose output is not its input's blocks moves through its input with a cursor. `ready` requests elements,
// `left` and `peek` show which ones are available, and `drop`, `move_to` and `take` consume from the front, any number
// of times and in any order:
//
//   for (;;) {
//     bool more = co_await in.ready({.elements = out.wanted()});
//     if (!more) break;
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

/// A view of the elements of a stream's current view that are not consumed yet. The stream owns them.
class element_view {
 public:
  element_view() = default;
  element_view(char* data, std::uint32_t size, std::size_t element_bytes)
      : data_(data), size_(size), element_bytes_(element_bytes) {}

  std::uint32_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  char* data() const noexcept { return data_; }  ///< null if it is empty
  char* at(std::size_t i) const noexcept { return data_ + i * element_bytes_; }
  template <class T> T* as() const noexcept { return std::launder(reinterpret_cast<T*>(data_)); }

 private:
  char* data_ = nullptr;
  std::uint32_t size_ = 0;
  std::size_t element_bytes_ = 0;
};

/// A stream whose consumer is a built-in stage, or code that has no C++ type for the elements.
///
/// The cursor. Between two calls each delivered element is either in the current view, where `left` counts it, or gone:
/// destroyed, moved out, or passed to the caller by next_block, take or next(). Elements passed to the caller belong to
/// it until its next call on this stream, which destroys those that remain. drop, move_to and take accept 0 elements.
/// At the end and before the first request 0 are left. A request for 0 elements is one for 1 (demand.hpp).
class [[nodiscard]] erased_stream : public stream_base {
 public:
  using promise_type = block_promise;
  using stream_base::stream_base;
  erased_stream() = default;
  explicit erased_stream(stream_base&& other) noexcept : stream_base(std::move(other)) {}
  /// Converts a typed stream and discards its type.
  template <class T>
  explicit erased_stream(detail::must_be_awaited<T, stream_base>&& typed) noexcept
      : stream_base(std::move(detail::engine_access::of(typed))) {}

  // Awaiters are one word, and the request is stored in the stream: g++ 12 makes larger awaiters eight times slower.
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

  /// Returns a view of 1..elements elements; an empty view at the end. In a task it throws `error`; in a stage an error
  /// unwinds. Does what ready(d) and then take(d.elements) do, for at least one element.
  block_awaiter next_block(demand d) {
    request(d);
    return {{*this}};
  }
  /// Skips d.skip elements, beginning with the rest of the current view. Then makes at least one element ready, and
  /// consumes none. If elements of the view are left, ready() makes no request. Otherwise it requests at most
  /// d.elements; left() may be larger. Returns false at the end.
  ready_awaiter ready(demand d) {
    request(d);
    return {{*this}};
  }

  struct attempt {
    block view;
    status why;  ///< ok with an empty view: the end
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
        s.set_view();
        s.came_to_rest();
      }
      attempt a{s.cur_ == s.end_ ? block() : s.take_view(), {}};
      if (!a.view) a.why = s.child_->failure;
      return a;
    }
  };
  /// Does what next_block does, but returns an error instead of unwinding.
  try_awaiter try_next_block(demand d) {
    request(d);
    return try_awaiter(*this);
  }

  /// The elements of the current view that are left.
  element_view peek() const {
    std::uint32_t n = left();
    return {n ? cur_ : nullptr, n, element_bytes_};
  }
  /// Destroys the next n elements. REQUIRES: n <= left().
  void drop(std::uint32_t n);
  /// Moves the next n elements, or as many as are left, to uninitialized room at `to`; returns how many.
  std::uint32_t move_to(char* to, std::uint32_t n) { return move_to(to, n, element_bytes_); }
  /// Does the same, with a distance of stride_bytes between the elements.
  std::uint32_t move_to(char* to, std::uint32_t n, std::size_t stride_bytes);
  /// Returns the next n elements, or as many as are left; an empty block if none is left.
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
  /// After a fill: sets the view. Throws if a task made the request and the stage has failed without a view.
  void take_up();
  /// Handles the views that take_view() does not: larger than requested, empty, or for a task.
  block take_odd_view();
  /// Skips elements of the current view first, for a request that skips elements.
  void skip_within_view();
  /// Destroys the elements of the current view that the caller was given and that remain. Afterwards the owner's first
  /// element is the first one not yet consumed. REQUIRES: left() > 0.
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
    block_promise* p;  // null: the whole block was skipped; the coroutine continues
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
