// SPDX-License-Identifier: Apache-2.0
// A stage that yields one element at a time: users' coroutines, whose promise (stream.hpp) adds their element's type.
//
// Output: elements are built one behind the other in the stage's slab, first_ <= put_ <= limit_. A co_yield is suspended only
//   at the limit, where demand is met: then all of it is handed over. While elements are passed over the limit is at the first
//   one, which is dropped there. A ready element is never held back behind one that may have to wait: what is made goes out
//   before a request on an input that may, and that request is put off until then (pending_).
// Resume point: the place from which the coroutine can be made again: its saved values, and its inputs' places, as they were at
//   the last cut(). The resume point is set when the coroutine starts; then at each request for input, if the stage has saved
//   values or the tag `stateless`; once it has called commit(), only there. After a resume the elements that were delivered
//   since then are made again and passed over (delivered_since_cut_).
// Who calls: its promise and saved<S>::commit() while the coroutine is running; ask_input() the stream it asks; the rest the
//   stream above. The public members are for the operator that opens a user's coroutine and starts it again after an error,
//   at rest.
// Cost: of an element that is yielded: building it, an addition and a comparison. Of commit(): the value's copy and two
//   pointers, except for the first one after a block is handed over or asked for.
// Thread: as stage_base.
#pragma once

#include <type_traits>

#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/stream_base.hpp"

namespace sluice::lib {

class element_stage : public stage_base {
 public:
  /// `s`, where it is one; otherwise, and for null, null.
  static element_stage* of(stage_base* s) noexcept {
    return s && !s->yields_blocks() ? static_cast<element_stage*>(s) : nullptr;
  }
  static const element_stage* of(const stage_base* s) noexcept { return of(const_cast<stage_base*>(s)); }

  /// Errors of the stage are to carry the ordinal of the last input element. REQUIRES: its first input is the plan's stream.
  void number_errors() { numbers_errors_ = true; }
  bool numbers_errors() const { return numbers_errors_; }
  /// A stage with saved values asks for one element at a time from now on, unless it commits: each is a resume point.
  void take_singly() { takes_singly_ = state_.saved_count() > 0; }
  /// Ordinal of the input element taken last; kUnknown: none was, or the input has ended. Only where errors are numbered.
  std::uint64_t current_element() const;
  /// Where a new coroutine can go on for one that threw. `safe` false: nothing says what it remembers.
  struct restart {
    bool safe = false;
    std::uint64_t dropped_from =
        0;  ///< the first element that is lost: the saved values account for none from it up to the current one
  };
  restart after_throw();
  /// Gives up its input, to be taken by the new coroutine, and its saved values as they were at the resume point.
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
  /// After the last parameter. Where it asks for input, a saved value accounts for all that was taken (saved.hpp).
  void parameters_end() { requests_cut_ |= state_.saved_count() > 0; }

  /// The resume point is now: the saved values, the inputs' places, the output so far.
  void cut() {
    for (stage_input& in : state_.inputs()) in.cut_cursor = in.stream->cur_;
    state_.cut_saved();
    cut_put_ = put_;
    cut_pending_ = true;
  }
  /// The stage itself says so (saved.hpp).
  void commit();
  /// Turns what cut() noted as pointers into ordinals, before a refill makes the pointers stale.
  void settle_cut();

  /// The coroutine, which is at a co_await, asks `in` for elements. Returns whom to resume.
  std::coroutine_handle<> ask_input(stream_base& in);
  /// What it asks of its input, having made `made`.
  std::uint32_t input_want(std::uint32_t made) const {
    return takes_singly_ && !user_cut_ ? 1 : wanted_and_passed() - made;
  }
  /// Makes room for what is asked for, and resumes the coroutine, or the request that was put off.
  std::coroutine_handle<> make_room_and_go_on();
  std::uint32_t made() const {
    return static_cast<std::uint32_t>((put_ - first_) / static_cast<std::ptrdiff_t>(type().size));
  }
  /// Hands over what was made.
  std::coroutine_handle<> deliver();
  void count_delivered();
  /// A co_yield has reached the limit: delivers, or drops what is to be passed over and goes on with `me`.
  std::coroutine_handle<> limit_reached(std::coroutine_handle<> me);
  /// The last element was made behind errors_: hands over those before.
  std::coroutine_handle<> deliver_before_errors();
  /// Hands over, or passes over, the one that deliver_before_errors() left.
  std::coroutine_handle<> deliver_one_behind();
  /// From the final suspend point: what was made goes out first.
  std::coroutine_handle<> leave_stage() noexcept;

  mark snapshot(std::uint64_t made) override;
  bool has_output() const override { return put_ != first_; }
  void keep_for_later(dropped_error e) override;
  std::coroutine_handle<> flush() noexcept override;

  char* first_ = nullptr;
  char* put_ = nullptr;
  char* limit_ = nullptr;
  char* cut_put_ = nullptr;     // put_ at the resume point, while output made since then is still here
  bool simple_commit_ = false;  // since the last fill it was, and there is one saved value and at most one input
  bool requests_cut_ = false;   // each request for input is a resume point
  bool user_cut_ = false;       // commit() was called: the stage itself says where it can start again
  bool cut_pending_ = false;    // the cut is still noted as cursors, not ordinals
  bool started_ = false;
  bool takes_singly_ = false;
  bool numbers_errors_ = false;
  block_fit fit_;
  std::uint64_t delivered_since_cut_ = 0;
  std::uint64_t start_ordinal_ = 0;  // of the first input, when the coroutine began
  stream_base* pending_ = nullptr;   // a fill put off until the output made so far is taken
};

}  // namespace sluice::lib
