// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/element_stage.hpp"

#include <utility>

namespace sluice::lib {

element_stage::~element_stage() {
  // If the frame is destroyed between two yields, nothing else owns the elements under construction.
  if (put_ != first_) out_.set_live(0, made());
}

void element_stage::settle_cut() {
  if (!cut_pending_) return;
  cut_pending_ = simple_commit_ = false;
  for (stage_input& in : state_.inputs()) in.cut_ordinal = in.stream->ordinal_at(in.cut_cursor);
}

void element_stage::commit() {
  user_cut_ = true;
  cut();
  simple_commit_ = state_.is_simple();
}

mark element_stage::snapshot(std::uint64_t made) {
  if (!started_) cut();
  settle_cut();
  return state_.take(made, delivered_since_cut_, true);
}

std::coroutine_handle<> element_stage::ask_input(stream_base& in) {
  in.check_not_empty();
  if (requests_cut_ && !user_cut_) cut();
  settle_cut();
  for (const stage_input& i : state_.inputs()) i.stream->floor_ = i.cut_ordinal;
  std::uint32_t n = made();
  // A ready element must not wait for a later one. Errors after the ready element wait until it is taken.
  if (n && !skip_ && (in.may_wait() || unusual_ & kErrorsAhead)) {
    pending_ = &in;
    return deliver();
  }
  if (sample_weight_) in.begin_sample(env, sample_weight_);
  return in.fill(this, 0, input_want(n));
}

// Not a virtual call, because every block makes it.
std::coroutine_handle<> stage_base::serve_elements() {
  return static_cast<element_stage*>(this)->make_room_and_go_on();
}

std::coroutine_handle<> element_stage::make_room_and_go_on() {
  if (unusual_ & kOneBehind) return deliver_one_behind();
  if (may_suspend_) want_ = 1;  // finished elements must not wait here while the stage itself waits for the next one
  std::size_t size = type().size;
  want_ = fit_.at_most(want_);
  first_ = put_ = out_.reserve(want_);
  limit_ = first_ + (skip_ ? 1 : want_) * size;
  if (!started_) {
    started_ = true;
    cut();
    settle_cut();
    for (const stage_input& in : state_.inputs()) in.stream->hold_from(in.cut_ordinal);
    start_ordinal_ = state_.inputs().first().cut_ordinal;
  }
  if (stream_base* in = std::exchange(pending_, nullptr)) return in->fill(this, 0, input_want(0));
  return self;
}

// Counts the elements that left since the resume point: all after the cut, or all if the cut is earlier.
void element_stage::count_delivered() {
  if (cut_put_) {
    delivered_since_cut_ = static_cast<std::uint64_t>(put_ - cut_put_) / type().size;
    cut_put_ = nullptr;
  } else {
    delivered_since_cut_ += made();
  }
}

std::coroutine_handle<> element_stage::deliver() {
  std::uint32_t n = made();
  count_delivered();
  out_.set_live(0, n);
  handed_ = block(&out_, &out_.type(), first_, n);
  fit_.made(handed_, want_bytes_);
  put_ = first_;
  return waiter->self;
}

std::coroutine_handle<> element_stage::limit_reached(std::coroutine_handle<> me) {
  if (!skip_) return unusual_ & kErrorsAhead ? deliver_before_errors() : deliver();
  count_delivered();
  out_.set_live(0, made());
  out_.clear();
  put_ = first_;
  if (--skip_ == 0) limit_ = first_ + want_ * type().size;
  return go_on(me);
}

void element_stage::keep_for_later(dropped_error e) {
  stage_base::keep_for_later(std::move(e));
  limit_ = put_ + type().size;  // after one more element, all finished elements are delivered
}

std::coroutine_handle<> element_stage::deliver_before_errors() {
  put_ -= type().size;
  std::uint32_t n = made();
  count_delivered();
  out_.set_live(0, n + 1);
  handed_ = block(&out_, &out_.type(), first_, n);
  fit_.made(handed_, want_bytes_);
  put_ = first_;
  unusual_ |= kOneBehind;
  return waiter->self;
}

std::coroutine_handle<> element_stage::deliver_one_behind() {
  unusual_ &= static_cast<std::uint8_t>(~kOneBehind);
  auto untaken = static_cast<std::uint32_t>(out_.size() - 1);  // of those delivered before the current element
  if (untaken) out_.view().drop_front(untaken);
  ++delivered_since_cut_;
  if (skip_ == 0) {
    handed_ = out_.view();
    return waiter->self;
  }
  --skip_;
  return make_room_and_go_on();
}

std::coroutine_handle<> element_stage::flush() noexcept {
  end();
  return put_ != first_ && !skip_ ? deliver() : std::coroutine_handle<>();
}

std::coroutine_handle<> element_stage::leave_stage() noexcept {
  if (put_ != first_ && !skip_) return deliver();
  bool dropped = put_ != first_;
  count_delivered();     // also if no element was produced: the resume point may have moved since the last element
  if (dropped) --skip_;  // while skipping, at most one element exists that was built and not yet destroyed
  return leave(this);
}

std::uint64_t element_stage::current_element() const {
  if (!numbers_errors_ || !started_ || !input_stage()) return provenance::kUnknown;
  const stream_base& in = *state_.inputs().first().stream;
  bool between = in.cur_ != nullptr && in.consumed() != start_ordinal_;  // at the end no view exists
  return between ? in.consumed() - 1 : provenance::kUnknown;
}

element_stage::restart element_stage::after_throw() {
  settle_cut();
  restart r;
  r.safe = (requests_cut_ || user_cut_) && state_.keeps_resume_point();
  bool remembers = state_.saved_count() > 0 || user_cut_;
  r.dropped_from = remembers ? state_.inputs().first().cut_ordinal : current_element();
  return r;
}

}  // namespace sluice::lib
