// SPDX-License-Identifier: Apache-2.0
// A stage that yields one element at a time: a user's coroutine. Its promise (stream.hpp) adds the element's type.
//
// Output: elements are built consecutively in the stage's slab, first_ <= put_ <= limit_. A co_yield suspends only at
//   the limit, where demand is met; then all elements are delivered. While elements are skipped, the limit is at the
//   first element, which is dropped there. A ready element never waits for a later one: the stage delivers its output
//   before it makes a request that may wait, and postpones that request until then (pending_).
// Resume point: the state from which the coroutine can be made again: its saved values and its inputs' positions at the
//   last cut(). The resume point is set when the coroutine starts. Later it is set at each request for input, if the
//   stage has saved values or the tag `stateless`; after the first call of commit(), only by commit(). After a resume
//   the elements that were delivered since the resume point are made again and skipped (delivered_since_cut_).
// Callers: the promise and saved<S>::commit() while the coroutine is running; ask_input(): the stream that is asked;
//   the others: the stream downstream. The public members are for the operator that opens a user's coroutine and
//   restarts it after an error, at rest.
// Cost: per yielded element: building it, an addition and a comparison. Per commit(): a copy of the value and two
//       pointers; more for the first one after a block is delivered or requested.
// Thread: the same as for stage_base.
#pragma once

#include <type_traits>

#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/stream_base.hpp"

namespace sluice::lib {

class element_stage : public stage_base {
 public:
  /// Returns `s` as an element_stage, or null if it is null or a block stage.
  static element_stage* of(stage_base* s) noexcept {
    return s && !s->yields_blocks() ? static_cast<element_stage*>(s) : nullptr;
  }
  static const element_stage* of(const stage_base* s) noexcept { return of(const_cast<stage_base*>(s)); }

  /// Errors of the stage will carry the ordinal of the last input element. REQUIRES: its first input is the plan's
  /// stream.
  void number_errors() { numbers_errors_ = true; }
  bool numbers_errors() const { return numbers_errors_; }
  /// A stage with saved values requests one element at a time from now on, unless it commits. Each request is a resume
  /// point.
  void take_singly() { takes_singly_ = state_.saved_count() > 0; }
  /// Ordinal of the input element read last. kUnknown if none was read or the input has ended. Only if errors are
  /// numbered.
  std::uint64_t current_element() const;
  /// Describes how a new coroutine can continue after one that threw. `safe` is false if it is unknown what the
  /// coroutine remembers.
  struct restart {
    bool safe = false;
    std::uint64_t dropped_from =
        0;  ///< the first lost element; the saved values include no element from here up to the current one
  };
  restart after_throw();
  /// The input, which the new coroutine takes over.
  stream_base& input() { return *state_.inputs().first().stream; }
  void copy_saved_to(element_stage& fresh) const { state_.copy_saved_to(fresh.state_); }

 protected:
  explicit element_stage(const element_type& type) : stage_base(type, yields::elements), fit_(type, true) {}
  ~element_stage();
  friend class stage_base;
  friend class stream_base;
  template <class S> friend class saved;

  template <class A> void register_parameter(A& a) {
    if constexpr (std::is_same_v<A, stateless>) requests_cut_ = true;
    else stage_base::register_parameter(a, this);
  }
  /// After the last parameter. When a stage with saved values requests input, they include all consumed elements
  /// (saved.hpp).
  void parameters_end() { requests_cut_ |= state_.saved_count() > 0; }

  /// Sets the resume point to now: the saved values, the inputs' positions, the output so far.
  void cut() {
    for (stage_input& in : state_.inputs()) in.cut_cursor = in.stream->cur_;
    state_.cut_saved();
    cut_put_ = put_;
    cut_pending_ = true;
  }
  /// Called by the stage to set its resume point (saved.hpp).
  void commit();
  /// Converts the pointers that cut() stored into ordinals, before a refill makes the pointers stale.
  void settle_cut();

  /// The coroutine, suspended at a co_await, requests elements from `in`. Returns the coroutine to resume.
  std::coroutine_handle<> ask_input(stream_base& in);
  /// The number of elements to request from the input after `made` elements were made.
  std::uint32_t input_want(std::uint32_t made) const {
    return takes_singly_ && !user_cut_ ? 1 : wanted_and_passed() - made;
  }
  /// Reserves room for the requested elements, and resumes the coroutine or the postponed request.
  std::coroutine_handle<> make_room_and_go_on();
  std::uint32_t made() const {
    return static_cast<std::uint32_t>((put_ - first_) / static_cast<std::ptrdiff_t>(type().size));
  }
  /// Delivers the elements made so far.
  std::coroutine_handle<> deliver();
  void count_delivered();
  /// Called when a co_yield has reached the limit: delivers, or drops elements to be skipped and continues with `me`.
  std::coroutine_handle<> limit_reached(std::coroutine_handle<> me);
  /// Called when the last element was made after errors_ occurred: delivers the elements before it.
  std::coroutine_handle<> deliver_before_errors();
  /// Delivers or skips the element that deliver_before_errors() left.
  std::coroutine_handle<> deliver_one_behind();
  /// Called at the final suspend point: delivers the output first.
  std::coroutine_handle<> leave_stage() noexcept;

  mark snapshot(std::uint64_t made) override;
  bool has_output() const override { return put_ != first_; }
  void keep_for_later(dropped_error e) override;
  std::coroutine_handle<> flush() noexcept override;

  char* first_ = nullptr;
  char* put_ = nullptr;
  char* limit_ = nullptr;
  // put_ at the resume point, while the output made since then is still in the slab
  char* cut_put_ = nullptr;
  // commit() was called since the last fill, and the stage has one saved value and at most one input
  bool simple_commit_ = false;
  bool requests_cut_ = false;  // each request for input is a resume point
  bool user_cut_ = false;      // commit() was called: the stage itself sets its resume points
  bool cut_pending_ = false;   // the cut is stored as cursors, not ordinals
  bool started_ = false;
  bool takes_singly_ = false;
  bool numbers_errors_ = false;
  block_fit fit_;
  std::uint64_t delivered_since_cut_ = 0;
  std::uint64_t start_ordinal_ = 0;  // of the first input, when the coroutine began
  stream_base* pending_ = nullptr;   // a fill postponed until the output made so far is taken
};

}  // namespace sluice::lib
