// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/stream_base.hpp"

#include "coro/position_records.hpp"

namespace sluice {
namespace {

/// How often a run's marks are renewed, in blocks its consumer asked for: a mark costs some 200 ns, a block some 25 ns
/// at the very least, so that being resumable stays below 1 %.
constexpr std::uint32_t kFillsPerTick = 1024;
/// The time a block asked for by a lone next() should take: long enough to make hops and wakes vanish, short enough
/// that nobody waits for the elements behind the one wanted.
constexpr auto kBlockTime = std::chrono::microseconds(100);
constexpr std::uint32_t kRampMax = 1024;

environment& idle_environment() {
  static environment none;
  return none;
}

}  // namespace

stream_base::stream_base(stream_base&& other) noexcept { *this = std::move(other); }

stream_base& stream_base::operator=(stream_base&& o) noexcept {
  if (this == &o) return *this;
  close();
  child_ = std::exchange(o.child_, nullptr);
  cur_ = std::exchange(o.cur_, nullptr);
  end_ = std::exchange(o.end_, nullptr);
  element_bytes_ = o.element_bytes_;
  request_want_ = o.request_want_;
  request_skip_ = o.request_skip_;
  request_bytes_ = o.request_bytes_;
  seen_tick_ = o.seen_tick_;
  fetched_ = o.fetched_;
  todo_ = o.todo_;
  asked_skip_ = o.asked_skip_;
  forwarded_ = o.forwarded_;
  view_owner_ = o.view_owner_;
  keep_ = o.keep_;
  floor_ = o.floor_;
  marks_ = std::move(o.marks_);
  run_ = std::move(o.run_);
  if (run_ && !child_) run_->owner_moved(this);
  ramp_ = o.ramp_;
  fills_since_tick_ = o.fills_since_tick_;
  asked_at_ = o.asked_at_;
  return *this;
}

void stream_base::close() noexcept {
  cur_ = end_ = nullptr;
  if (run_) run_->request_stop();  // before the tree dies: what works ahead of it need not go on
  if (stage_base* c = std::exchange(child_, nullptr)) c->self.destroy();
  else if (run_) run_->owner_moved(nullptr);
  marks_.clear();
  run_.reset();
}

bool stream_base::mark_due() {
  std::uint32_t t = child_->tick_->load(std::memory_order_relaxed);
  if (t == seen_tick_) return false;
  seen_tick_ = t;
  return true;
}

void stream_base::keep_marks() {
  if (keep_) return;
  keep_ = true;
  seen_tick_ = kNeverSeen;  // the next fill looks again, and takes the first mark
}

bool stream_base::before_fill(promise_base* owner) {
  stage_base* c = child_;
  if (c->over_) return false;
  if (!c->env) c->env = owner->env ? owner->env : &idle_environment();
  c->tick_ = &c->env->tick;
  std::uint32_t t = c->tick_->load(std::memory_order_acquire);  // whoever sees a stop's tick sees the stop
  if (c->env->stopping.load(std::memory_order_acquire)) {
    c->failure = cancelled_error();
    c->over_ = true;
    return false;
  }
  if (keep_) {
    std::uint64_t oldest_needed = std::min(floor_, fetched_);
    std::size_t stale = 0;
    while (stale + 1 < marks_.size() && marks_[stale + 1].ordinal <= oldest_needed) ++stale;
    marks_.erase(marks_.begin(), marks_.begin() + static_cast<std::ptrdiff_t>(stale));
    // A floor that stands still could never use another mark: an opaque stage would collect them without end.
    if (marks_.size() < 2 || floor_ == kNone || marks_.back().ordinal < floor_) marks_.push_back(take_mark());
  }
  seen_tick_ = t;
  return true;
}

std::coroutine_handle<> stream_base::over_without_filling(promise_base* owner, std::uint64_t skip) {
  stage_base* c = child_;
  c->waiter = owner;
  c->handed_ = block{};
  asked_skip_ = c->skip_ = skip + todo_;  // todo_ stays: nothing of it was passed over
  if (c->failure.ok() || owner->catching) return owner->self;
  return unwind(owner, c->failure);
}

void stream_base::check_not_empty() const {
  if (!child_)
    throw_status(
        failed_precondition_error("this stream is empty: it was moved from, cleaned up, or never made by a plan"));
}

std::coroutine_handle<> stream_base::ask_from_element_stage(stage_base& p) {
  check_not_empty();
  if (p.kind_ == stage_base::kind::stateless && !p.user_cut_) p.cut();
  p.settle_cut();
  for (int i = 0; i < p.input_count_; ++i) p.inputs_[i]->floor_ = p.cut_ordinal_[i];
  std::uint32_t made = p.made();
  if (made && !p.skip_ && may_wait()) {  // a ready element is never held back behind one that may have to wait
    p.pending_ = this;
    return p.deliver();
  }
  return fill(&p, 0, p.wanted_and_passed() - made);
}

std::coroutine_handle<> stream_base::ask_from_task(promise_base& p) {
  check_not_empty();
  p.catching = true;
  std::uint32_t want = request_want_ ? request_want_ : ramp_;
  std::uint64_t skip = std::exchange(request_skip_, 0);
  forwarded_ = nullptr;
  if (environment* e = child_->env) {
    if (run_ && ++fills_since_tick_ >= kFillsPerTick) {
      fills_since_tick_ = 0;
      e->request_marks();
    }
    if (!request_want_ && e->time) asked_at_ = e->time->now();
  }
  return fill(&p, skip, want);
}

void stream_base::end_task_fill() {
  child_->waiter->catching = false;
  if (request_want_ || ramp_ == 0) return;
  environment* e = child_->env;
  if (!e || !e->time) {
    ramp_ = std::min(ramp_ * 2, kRampMax);
    return;
  }
  auto took = e->time->now() - asked_at_;
  if (took > kBlockTime) ramp_ = std::max(1u, ramp_ / 2);
  else if (took * 2 <= kBlockTime && left() >= ramp_) ramp_ = std::min(ramp_ * 2, kRampMax);
}

void stream_base::set_no_view() {
  stage_base* c = child_;
  cur_ = end_ = nullptr;
  fetched_ += asked_skip_ - c->skip_;
  asked_skip_ = c->skip_;
  if (forwarded_) forwarded_->skip_ = c->skip_;
}

void stream_base::throw_if_failed() const {
  if (!child_->failure.ok()) throw_status(child_->failure);
}

const mark* stream_base::mark_for(std::uint64_t ordinal) const {
  // A failed stage may have state in the air; what it was a moment ago is in the marks.
  bool failed = child_->over_ && !child_->failure.ok();
  if (ordinal >= fetched_ && !(failed && !marks_.empty())) return nullptr;
  const mark* from = nullptr;
  for (const mark& m : marks_)
    if (m.ordinal <= ordinal) from = &m;
  SLUICE_ASSERT(from, "a position was asked for that no mark reaches back to");
  return from;
}

void stream_base::position_at(std::uint64_t ordinal, position_writer& w) {
  check_not_empty();
  if (const mark* from = mark_for(ordinal)) w.record(*from, ordinal);
  else w.record(take_mark(), ordinal);
}

mark stream_base::place_at(std::uint64_t ordinal) {
  check_not_empty();
  const mark* from = mark_for(ordinal);
  mark m = from ? *from : take_mark();
  m.advance_to(ordinal);
  return m;
}

void stream_base::restore(position_records& from) {
  // Channels that the engine adds have no site: they stand where their input stands.
  bool nameless = child_->follows_input() && !child_->identity_.site;
  const position_record* own = nameless ? nullptr : from.take(child_->identity_.site);
  fetched_ = child_->restore(own, from);
  todo_ = own ? own->to_pass : 0;
}

}  // namespace sluice
