// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/stage.hpp"

#include "sluice/coro/stream_base.hpp"

namespace sluice {
namespace {
const std::atomic<std::uint32_t> kNoRun{0};
}  // namespace

stage_base::stage_base(const element_type& type) : tick_(&kNoRun), out_(type), fit_(type) {}

stage_base::~stage_base() {
  // Elements under construction belong to nobody else when the frame dies between two yields.
  if (kind_ != kind::block && put_ != first_) out_.set_live(0, made());
}

bool stage_base::may_wait() const {
  if (over_) return false;
  if (may_suspend_) return true;
  for (int i = 0; i < saved_count_; ++i)
    if (saved_[i]->may_wait()) return true;
  for (int i = 0; i < input_count_; ++i)
    if (inputs_[i]->may_wait()) return true;
  return false;
}

void stage_base::settle_cut() {
  if (!cut_pending_) return;
  cut_pending_ = simple_commit_ = false;
  for (int i = 0; i < input_count_; ++i) cut_ordinal_[i] = inputs_[i]->ordinal_at(cut_cursor_[i]);
}

void stage_base::commit() {
  user_cut_ = true;
  cut();
  simple_commit_ = input_count_ <= 1 && saved_count_ == 1;
}

std::uint64_t stage_base::snapshot(position_writer& w) {
  bool block_style = kind_ == kind::block;
  if (!block_style) {
    if (!started_) cut();
    settle_cut();
  }
  for (int i = 0; i < saved_count_; ++i) saved_[i]->save(w, !block_style);
  for (int i = 0; i < input_count_; ++i) {
    if (block_style) inputs_[i]->position(w);
    else inputs_[i]->position_at(cut_ordinal_[i], w);
  }
  return block_style ? 0 : delivered_since_cut_;
}

void stage_base::restore(position_reader& r) {
  for (int i = 0; i < saved_count_; ++i) saved_[i]->load(r);
  for (int i = 0; i < input_count_; ++i) inputs_[i]->restore(r);
}

std::coroutine_handle<> stage_base::serve_elements() {
  if (may_suspend_) want_ = 1;  // what is made must not lie here while the stage itself waits for the next
  std::size_t size = type().size;
  want_ = fit_.at_most(want_);
  first_ = put_ = out_.reserve(want_);
  limit_ = first_ + (skip_ ? 1 : want_) * size;
  if (!started_) {
    started_ = true;
    cut();
    settle_cut();
    for (int i = 0; i < input_count_; ++i) inputs_[i]->hold_from(cut_ordinal_[i]);
  }
  if (stream_base* in = std::exchange(pending_, nullptr)) return in->fill(this, 0, wanted_and_passed());
  return self;
}

// What left since the resume point: everything behind the cut, or everything when the cut is further back.
void stage_base::count_delivered() {
  if (cut_put_) {
    delivered_since_cut_ = static_cast<std::uint64_t>(put_ - cut_put_) / type().size;
    cut_put_ = nullptr;
  } else {
    delivered_since_cut_ += made();
  }
}

std::coroutine_handle<> stage_base::deliver() {
  std::uint32_t n = made();
  count_delivered();
  out_.set_live(0, n);
  handed_ = block(&out_, &out_.type(), first_, n);
  fit_.made(handed_, want_bytes_);
  put_ = first_;
  return waiter->self;
}

std::coroutine_handle<> stage_base::limit_reached(std::coroutine_handle<> me) {
  if (!skip_) return deliver();
  count_delivered();
  out_.set_live(0, made());
  out_.clear();
  put_ = first_;
  if (--skip_ == 0) limit_ = first_ + want_ * type().size;
  return me;
}

std::coroutine_handle<> stage_base::flush() noexcept {
  over_ = true;
  if (kind_ != kind::block) return put_ != first_ && !skip_ ? deliver() : std::coroutine_handle<>();
  block made = std::exchange(held_, block{});
  std::uint32_t passed = static_cast<std::uint32_t>(std::min<std::uint64_t>(skip_, made.size()));
  skip_ -= passed;
  if (passed == made.size()) return {};
  if (passed) made.drop_front(passed);
  handed_ = made;
  return waiter->self;
}

std::coroutine_handle<> stage_base::leave_stage() noexcept {
  if (kind_ != kind::block && put_ != first_) {
    if (!skip_) return deliver();
    count_delivered();
    --skip_;  // while passing over, at most one element is made and not yet dropped
  }
  return leave(this);
}

void stage_base::fail_with_current_exception() noexcept {
  failure = current_exception_status();
  if (!label_.empty()) failure = failure.in_stage(label_);
  over_ = true;
}

}  // namespace sluice
