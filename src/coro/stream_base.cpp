// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/stream_base.hpp"

#include "coro/positions/absent_stage.hpp"
#include "coro/positions/position_records.hpp"

namespace sluice::lib {
namespace {

/// The number of marks that a stream keeps. One is at or before the oldest held element. The others are spread between
/// that one and now, so that a resume computes again a sixteenth to a quarter more elements than are held.
constexpr std::size_t kMarksMax = 16;
/// The most time that recording a mark is assumed to take, in all and for each of its bytes. If more has passed, the
/// system has run another thread meanwhile, and the excess is not counted as cost of the mark.
constexpr duration kMarkCostMax = std::chrono::microseconds(20);
constexpr duration kMarkCostPerByte = std::chrono::nanoseconds(20);
/// Destroying a mark takes as long as recording it, so the measured cost counts twice.
constexpr int kTakenAndDropped = 2;
/// Fills between two looks of a run's root, which also request marks. It bounds the number of blocks that a resume
/// computes again.
constexpr std::uint16_t kRootLookEvery = 32;
/// The first looks of a root request marks at any cost, so that a run that is preempted repeatedly after a short time
/// records a mark each time.
constexpr std::uint32_t kEarlyLooks = 16;
/// The longest time that a block should take: during a block a stop is not noticed, and no other coroutine runs on this
/// worker.
constexpr duration kBlockTimeMax = std::chrono::milliseconds(10);
constexpr std::uint32_t kWantFree = 1u << 16;  // a limit on demands above this number has no effect and is removed
/// The time that a block for a next() should take: long enough that suspending and waking up cost little in comparison,
/// short enough that the consumer does not wait noticeably for elements that it has not requested yet.
constexpr auto kFillTime = std::chrono::microseconds(100);
constexpr std::uint32_t kRampMax = 1024;

/// If so much time passes between two looks, the consumer's next requests are all timed.
constexpr duration kSlowInterval = std::chrono::milliseconds(1);

environment& idle_environment() {
  static environment none;
  return none;
}

}  // namespace

stream_base::stream_base() noexcept = default;
stream_base::stream_base(stage_base* child) noexcept
    : child_(child), element_bytes_(static_cast<std::uint32_t>(child->type().size)) {}
// Streams are moved some ten times between the stage that is built and the one that reads it, so this is not the
// assignment to an empty stream.
stream_base::stream_base(stream_base&& o) noexcept
    : child_(std::exchange(o.child_, nullptr)),
      cur_(std::exchange(o.cur_, nullptr)),
      end_(std::exchange(o.end_, nullptr)),
      element_bytes_(o.element_bytes_),
      request_want_(o.request_want_),
      request_skip_(o.request_skip_),
      request_bytes_(o.request_bytes_),
      seen_tick_(o.seen_tick_),
      fetched_(o.fetched_),
      todo_(o.todo_),
      asked_skip_(o.asked_skip_),
      forwarded_(o.forwarded_),
      view_owner_(o.view_owner_),
      keep_(o.keep_),
      has_begun_again_(o.has_begun_again_),
      takes_samples_(o.takes_samples_),
      samples_(o.samples_),
      planned_weight_(o.planned_weight_),
      blocks_(o.blocks_),
      turn_(o.turn_),
      want_max_(o.want_max_),
      looks_(o.looks_),
      floor_(o.floor_),
      marks_(std::move(o.marks_)),
      counted_(o.counted_),
      passed_(o.passed_),
      sampled_passed_(o.sampled_passed_),
      sampled_at_(o.sampled_at_),
      run_(std::move(o.run_)),
      ramp_(o.ramp_),
      asked_(!o.at_rest()),
      asked_at_(o.asked_at_) {
  if (run_ && !child_) run_->owner_moved(this);
  if (!at_rest()) o.asked_.store(false, std::memory_order_relaxed);
}
stream_base::~stream_base() {
  if (child_ || run_) close();
}

void stream_base::set_run(std::shared_ptr<run_base> run) {
  run_ = std::move(run);
  takes_samples_ = true;
}

stream_base& stream_base::operator=(stream_base&& o) noexcept {
  if (this == &o) return *this;
  if (child_ || run_) close();
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
  counted_ = o.counted_;
  passed_ = o.passed_;
  blocks_ = o.blocks_;
  samples_ = o.samples_;
  planned_weight_ = o.planned_weight_;
  takes_samples_ = o.takes_samples_;
  sampled_passed_ = o.sampled_passed_;
  sampled_at_ = o.sampled_at_;
  forwarded_ = o.forwarded_;
  view_owner_ = o.view_owner_;
  keep_ = o.keep_;
  has_begun_again_ = o.has_begun_again_;
  turn_ = o.turn_;
  want_max_ = o.want_max_;
  looks_ = o.looks_;
  floor_ = o.floor_;
  marks_ = std::move(o.marks_);
  run_ = std::move(o.run_);
  if (run_ && !child_) run_->owner_moved(this);
  ramp_ = o.ramp_;
  asked_at_ = o.asked_at_;
  asked_.store(!o.at_rest(), std::memory_order_relaxed);
  if (!at_rest()) o.asked_.store(false, std::memory_order_relaxed);
  return *this;
}

void stream_base::close() noexcept {
  cur_ = end_ = nullptr;
  if (child_) flush_counts();
  if (run_) run_->request_stop();  // before the tree is destroyed, so that its pumps stop working ahead
  if (stage_base* c = std::exchange(child_, nullptr)) c->self.destroy();
  else if (run_) run_->owner_moved(nullptr);
  marks_.clear();
  run_.reset();
}

bool stream_base::has_consistent_state() const {
  if (!child_) return true;
  if (child_->over() && !child_->failure.ok()) return false;
  auto is_reliable = [](const stream_base& in) { return !in.marks_.empty() || in.has_consistent_state(); };
  for (const stage_input& in : child_->state_.inputs())
    if (!is_reliable(*in.stream)) return false;
  const stream_base* owned = child_->state_.owned_input();
  return !owned || is_reliable(*owned);
}

mark stream_base::take_due_mark() {
  environment* e = child_->env;
  if (!e || !e->time) return take_mark();
  time_point began = e->time->now();
  mark m = take_mark();
  duration took = e->time->now() - began;
  if (took > kMarkCostMax) {
    auto bytes = static_cast<duration::rep>(m.state.bytes().size());
    took = std::min<duration>(took, kMarkCostMax + bytes * kMarkCostPerByte);
  }
  e->took_mark(took * kTakenAndDropped);
  return m;
}

void stream_base::keep_marks() {
  if (keep_) return;
  keep_ = true;
  seen_tick_ = kNeverSeen;  // so that the next fill compares as changed, and records the first mark
}

bool stream_base::begin_again() {
  if (!child_ || !child_->can_begin_again()) return false;
  forget_requests();
  child_->begin_again();
  return true;
}

void stream_base::forget_requests() {
  cur_ = end_ = nullptr;
  counted_ -= fetched_;  // the difference is the part that was not counted yet
  fetched_ = todo_ = asked_skip_ = 0;
  has_begun_again_ = true;
  floor_ = kNone;
  // A mark of the start is a mark of this start, too: the stages are in the same state.
  if (!marks_.empty() && marks_.front().ordinal == 0) {
    marks_.erase(marks_.begin() + 1, marks_.end());
  } else {
    marks_.clear();
    if (keep_) seen_tick_ = kNeverSeen;
  }
}

std::coroutine_handle<> stream_base::fill_with_a_look(promise_base* owner, std::uint64_t skip, std::uint32_t want) {
  stage_base* c = child_;
  if (c->unusual_ & stage_base::kErrorsAhead) {
    c->waiter = owner;
    status why = c->send_up_later_errors();
    if (!why.ok()) {
      c->failure = std::move(why);
      c->end();
    }
  }
  if (c->over()) return requested_after_end(owner, skip);
  if (!c->env) set_environment(owner->env ? owner->env : &idle_environment());
  environment& e = *c->env;
  // A fill that comes here because of a changed tick has not counted its step yet. Ticks change every 10 ms, so a stream
  // with slow blocks would never look otherwise.
  const bool is_due = turn_.due() || turn_.step();
  const bool looks = is_due && !turn_.ends_pause();
  const bool others_first = looks && look(want);
  if (is_due && takes_samples_ && !c->sample_weight_) {
    if (looks) plan_sample();
    else begin_sample(c->env, planned_weight_);
  }
  std::uint32_t t =
      e.tick.load(std::memory_order_acquire);  // pairs with the release of a stop: `stopping` is then true
  if (e.stopping.load(std::memory_order_acquire)) {
    c->failure = e.stop_error();
    c->end();
    return over_without_filling(owner, skip);
  }
  if (t != seen_tick_) {
    bool first = keep_ && marks_.empty();
    if (keep_) {
      try {
        renew_marks();
      } catch (...) {  // a forged position upstream; the requester gets it as an error of the stage
        c->failure = current_exception_status();
        if (c->failure.code() == status_code::resource_exhausted) c->failure = c->failure.in_stage(c->label());
        c->end();
        return over_without_filling(owner, skip);
      }
    }
    seen_tick_ = first ? kNeverSeen : t;  // the second fill records a mark as well (stream_base.hpp, Marks)
  }
  std::coroutine_handle<> next = fill_now(owner, skip, want);
  // If a coroutine of this tree has been posted, another worker may be running it by now, or have destroyed the tree:
  // then nothing of it may be accessed.
  if (!others_first || next == gave_way()) return next;
  post_behind_others(next);
  return gave_way();
}

bool stream_base::look(std::uint32_t want) {
  environment& e = *child_->env;
  if (!e.time) {
    turn_.look_never();
    return false;
  }
  turn::seen seen = turn_.look(e, run_ ? kRootLookEvery : turn::kStepsMax);
  flush_counts();
  if (run_ && seen.since_last_look > kSlowInterval) run_->consumer.time_all();
  if (!run_) {
    e.request_marks_by_time(seen.now);
  } else if (looks_ < kEarlyLooks) {
    ++looks_;
    e.request_marks();
  } else {
    e.request_marks_by_blocks(seen.now);
  }
  // The time includes the consumer's own work between two blocks; if that is slow, small blocks cost nothing in
  // comparison.
  duration each = seen.since_last_look / seen.steps;
  if (each > 2 * kBlockTimeMax) want_max_ = std::max(1u, std::min(want, want_max_) / 2);
  else if (each < kBlockTimeMax && want_max_ <= want) want_max_ = want_max_ < kWantFree ? want_max_ * 2 : ~0u;
  return seen.others_first;
}

void stream_base::visit_stages(bool (*enter)(void* context, stage_base& stage), void* context) const {
  if (!child_ || !enter(context, *child_)) return;
  for (const stage_input& in : child_->state_.inputs()) in.stream->visit_stages(enter, context);
  if (const stream_base* in = child_->state_.owned_input()) in->visit_stages(enter, context);
}

void stream_base::renew_marks() {
  std::uint64_t oldest_needed = std::min(floor_, fetched_);
  std::size_t stale = 0;
  while (stale + 1 < marks_.size() && marks_[stale + 1].ordinal <= oldest_needed) ++stale;
  marks_.erase(marks_.begin(), marks_.begin() + static_cast<std::ptrdiff_t>(stale));
  if (!marks_.empty() && !has_consistent_state()) return;
  mark now = take_due_mark();
  if (!marks_.empty() && marks_.back().ordinal == now.ordinal) marks_.back() = std::move(now);
  else marks_.push_back(std::move(now));
  if (marks_.size() <= kMarksMax) return;
  std::size_t closest = 1;  // the mark to remove: the one whose neighbors are closest to each other
  for (std::size_t i = 2; i + 1 < marks_.size(); ++i)
    if (marks_[i + 1].ordinal - marks_[i - 1].ordinal < marks_[closest + 1].ordinal - marks_[closest - 1].ordinal)
      closest = i;
  marks_.erase(marks_.begin() + static_cast<std::ptrdiff_t>(closest));
}

std::coroutine_handle<> stream_base::requested_after_end(promise_base* owner, std::uint64_t skip) {
  environment* e = owner->env;
  if (child_->failure.ok() && e && e->stopping.load(std::memory_order_acquire)) child_->failure = e->stop_error();
  std::coroutine_handle<> next = over_without_filling(owner, skip);
  if (!e || !e->time || !e->exec || !(turn_.due() || turn_.step())) return next;
  if (!turn_.look(*e).others_first) return next;
  e->exec->post_later(next);
  return gave_way();
}

std::coroutine_handle<> stream_base::over_without_filling(promise_base* owner, std::uint64_t skip) {
  stage_base* c = child_;
  c->waiter = owner;
  c->handed_ = block{};
  asked_skip_ = c->skip_ = skip + todo_;  // todo_ stays in the count: none of these elements was skipped
  if (c->failure.ok() || owner->catching || owner->is_task()) return owner->self;
  return unwind(owner, c->failure);
}

void stream_base::check_not_empty() const {
  if (!child_)
    throw_status(
        failed_precondition_error("this stream is empty: it was moved from, cleaned up, or never made by a plan"));
}

void stream_base::require_rest(const char* what) const {
  if (asked_.load(std::memory_order_relaxed)) refuse_two_consumers(what);
}

void stream_base::refuse_two_consumers(const char* what) {
  throw_status(failed_precondition_error(
      std::string(what) +
      " while another coroutine's request on this stream is outstanding: a stream has one consumer at "
      "a time; await that request first (request_stop() ends it early), or give each consumer a stream of its own"));
}

std::coroutine_handle<> stream_base::ask_from_task(promise_base& p) {
  check_not_empty();
  if (const environment* e = child_->env; e && e->is_homeless.load(std::memory_order_relaxed))
    throw_status(e->stop_error());
  if (asked_.exchange(true, std::memory_order_relaxed)) refuse_two_consumers("next()");
  std::uint32_t want = request_want_ ? request_want_ : ramp_;
  std::uint64_t skip = std::exchange(request_skip_, 0);
  forwarded_ = nullptr;
  executor* exec = nullptr;
  if (environment* e = child_->env) {
    exec = e->exec;
    const bool is_timed = e->time && run_ && takes_samples_ && run_->consumer.asks();
    if (e->time && (is_timed || !request_want_)) asked_at_ = e->time->now();
    if (is_timed) run_->consumer.asked(asked_at_);
  }
  const std::coroutine_handle<> consumer = p.self;
  std::coroutine_handle<> next = fill(&p, skip, want);
  // If a coroutine of this tree has been posted, the consumer may have ended by now, and `p` and the tree with it.
  if (next == gave_way() || next == consumer || !exec || exec->admits_caller()) [[likely]]
    return next;
  exec->post(next);  // the run's own workers make the block, and then resume the consumer
  return gave_way();
}

void stream_base::end_task_fill() {
  came_to_rest();
  if (request_want_ || ramp_ == 0) return;
  environment* e = child_->env;
  if (!e || !e->time) {
    ramp_ = std::min(ramp_ * 2, kRampMax);
    return;
  }
  auto took = e->time->now() - asked_at_;
  if (took > kFillTime) ramp_ = std::max(1u, ramp_ / 2);
  else if (took * 2 <= kFillTime && left() >= ramp_) ramp_ = std::min(ramp_ * 2, kRampMax);
}

void stream_base::set_no_view() {
  stage_base* c = child_;
  cur_ = end_ = nullptr;
  took_up_passed();
  if (c->sample_weight_) end_sample(0);
  if (c->over() && !has_begun_again_) flush_counts();
  if (forwarded_) forwarded_->skip_ = c->skip_;
}

void stream_base::throw_if_failed() const {
  if (!child_->failure.ok()) throw_status(child_->failure);
}

const mark* stream_base::mark_for(std::uint64_t ordinal) const {
  if (ordinal >= fetched_ && (marks_.empty() || has_consistent_state())) return nullptr;
  const mark* from = nullptr;
  for (const mark& m : marks_)
    if (m.ordinal <= ordinal) from = &m;
  // A stage that holds elements keeps a mark at or before the oldest; only a forged position can claim that it holds
  // older ones.
  if (!from) throw_status(damaged_position());
  return from;
}

void stream_base::position_at(std::uint64_t ordinal, position_writer& w) {
  check_not_empty();
  require_rest("position()");
  if (const mark* from = mark_for(ordinal)) w.record(*from, ordinal);
  else w.record(take_mark(), ordinal);
}

checkpoint stream_base::sealed_position() {
  position_writer w;
  position(w);
  return {run_ ? run_->seal(w.bytes()) : w.bytes()};
}

mark stream_base::place_at(std::uint64_t ordinal) {
  check_not_empty();
  const mark* from = mark_for(ordinal);
  mark m = from ? *from : take_mark();
  m.advance_to(ordinal);
  return m;
}

void stream_base::restore(position_records& from) {
  restore_absent(child_->absent_ ? child_->absent_->all.size() : 0, from);
}

void stream_base::restore_stage(position_records& from) {
  // Channels that the library adds have no site: their input's position is used.
  bool nameless = child_->follows_input() && !child_->known_as().site;
  const position_record* own = nameless ? nullptr : from.take(child_->known_as().site);
  if (!own && child_->known_as().once_nameless) own = from.take(0);
  fetched_ = counted_ = child_->restore(own, from);
  todo_ = own ? own->to_pass : 0;
}

}  // namespace sluice::lib
