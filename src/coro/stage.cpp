// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/stage.hpp"

#include <algorithm>
#include <utility>

#include "coro/position_records.hpp"
#include "sluice/coro/stream_base.hpp"

namespace sluice::lib {
namespace {

const std::atomic<std::uint32_t> kNoRun{0};
/// Time between two looks at the clock that is aimed at where steps are slow.
constexpr duration kLookTime = std::chrono::microseconds(500);
/// After so much work without a pause other coroutines have their turn. What they do between two waits is often some
/// 10 µs, so a run of many small steps beside one that never waits gets slower in proportion; a turn costs 1 µs.
constexpr duration kTurn = std::chrono::milliseconds(2);

}  // namespace

turn::seen turn::look(const environment& env, std::uint16_t steps_max) {
  seen s;
  s.now = env.time->now();
  s.steps = steps_;
  if (looked_at_ == time_point()) looked_at_ = began_at_ = s.now;
  s.since_last_look = s.now - std::exchange(looked_at_, s.now);
  std::int64_t next = s.since_last_look > kLookTime ? steps_ * kLookTime / s.since_last_look : steps_ * 2;
  until_look_ = steps_ = static_cast<std::uint16_t>(std::clamp<std::int64_t>(next, 1, steps_max));
  if (s.now - began_at_ < kTurn) return s;
  began_at_ = s.now;
  s.others_first = env.exec && env.exec->on_worker();  // a consumer on a thread of its own stays there
  return s;
}

stage_base* stage_of(promise_base* p) noexcept {
  while (p && p->is_task()) p = p->waiter;
  return static_cast<stage_base*>(p);
}

stage_base::stage_base(const element_type& type)
    : promise_base(on_failure::unwinds), tick_(&kNoRun), out_(type), fit_(type, true) {}

stage_base::~stage_base() {
  // Elements under construction belong to nobody else when the frame dies between two yields.
  if (kind_ != kind::block && put_ != first_) out_.set_live(0, made());
}

bool stage_base::may_wait() const {
  if (over()) return false;
  if (may_suspend_) return true;
  for (int i = 0; i < saved_count_; ++i)
    if (saved_[i]->may_wait()) return true;
  for (const stage_input& in : inputs_)
    if (in.stream->may_wait()) return true;
  return false;
}

void stage_base::settle_cut() {
  if (!cut_pending_) return;
  cut_pending_ = simple_commit_ = false;
  for (stage_input& in : inputs_) in.cut_ordinal = in.stream->ordinal_at(in.cut_cursor);
}

void stage_base::commit() {
  user_cut_ = true;
  cut();
  simple_commit_ = inputs_.size() <= 1 && saved_count_ == 1;
}

// A state that owns no input is not asked about it.
mark saved_base::input_place() { return {}; }
void saved_base::restore_input(position_records&) {}
std::uint64_t saved_base::input_consumed() const { return 0; }

mark stage_base::snapshot(std::uint64_t made) {
  bool block_style = kind_ == kind::block;
  if (!block_style) {
    if (!started_) cut();
    settle_cut();
  }
  if (follows_input()) {
    mark m = input_owner_ ? input_owner_->input_place() : inputs_.first().stream->place();
    m.ordinal = made;
    return m;
  }
  mark m;
  m.ordinal = made;
  m.residual = block_style ? 0 : delivered_since_cut_;
  m.site = identity_.site;
  m.version = identity_.version;
  bool apart = inputs_are_apart();
  if (apart) {
    for (const stage_input& in : inputs_) {
      auto chain = std::make_shared<position_writer>();
      input_position(in, *chain);
      m.state.blob(std::move(chain));
    }
  }
  for (int i = 0; i < saved_count_; ++i) saved_[i]->save(m.state, !block_style);
  m.own_bytes = m.state.size_bytes();
  if (!apart && !inputs_.empty()) input_position(inputs_.first(), m.state);
  if (input_owner_) {
    mark below = input_owner_->input_place();
    m.state.record(below, below.ordinal);
  }
  return m;
}

void stage_base::input_position(const stage_input& in, position_writer& w) {
  if (kind_ == kind::block) in.stream->position(w);
  else in.stream->position_at(in.cut_ordinal, w);
}

std::uint64_t stage_base::restore(const position_record* own, position_records& from) {
  bool alone = inputs_.empty() && !input_owner_;
  bool needs_record = alone || inputs_are_apart();
  for (int i = 0; i < saved_count_; ++i) needs_record |= !saved_[i]->holds_nothing();
  if (!own && needs_record) {
    from.damaged();
    return 0;
  }
  if (own) load_own(*own, from);
  if (input_owner_) input_owner_->restore_input(from);
  else if (!inputs_.empty() && !inputs_are_apart()) inputs_.first().stream->restore(from);
  if (own) return own->ordinal - own->to_pass;
  // A stage that the position knows nothing of gave one element for each of its input until there.
  return input_owner_ ? input_owner_->input_consumed() : inputs_.first().stream->consumed();
}

void stage_base::load_own(const position_record& own, position_records& from) {
  if (own.version > identity_.version || own.version < identity_.version_oldest)
    return from.refuse(failed_precondition_error(
        std::string(label_) + ": the checkpoint holds this stage's state in version " + std::to_string(own.version) +
        ", and this version of sluice reads versions " + std::to_string(identity_.version_oldest) + " to " +
        std::to_string(identity_.version) + "; resume it with the version of sluice that wrote it"));
  position_reader r(own.saved, own.version);
  if (inputs_are_apart()) {
    for (const stage_input& in : inputs_) {
      position_records chain{std::string(r.text())};
      in.stream->restore(chain);
      from.refuse(chain.finish());
    }
  }
  for (int i = 0; i < saved_count_; ++i) saved_[i]->load(r);
  from.refuse(r.why());
  if (!r.ok() || !r.done()) from.damaged();
}

std::coroutine_handle<> stage_base::serve_elements() {
  if (unusual_ & kOneBehind) return deliver_one_behind();
  if (may_suspend_) want_ = 1;  // what is made must not lie here while the stage itself waits for the next
  std::size_t size = type().size;
  want_ = fit_.at_most(want_);
  first_ = put_ = out_.reserve(want_);
  limit_ = first_ + (skip_ ? 1 : want_) * size;
  if (!started_) {
    started_ = true;
    cut();
    settle_cut();
    for (const stage_input& in : inputs_) in.stream->hold_from(in.cut_ordinal);
    start_ordinal_ = inputs_.first().cut_ordinal;
  }
  if (stream_base* in = std::exchange(pending_, nullptr)) return in->fill(this, 0, input_want(0));
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
  if (!skip_) return unusual_ & kErrorsAhead ? deliver_before_errors() : deliver();
  count_delivered();
  out_.set_live(0, made());
  out_.clear();
  put_ = first_;
  if (--skip_ == 0) limit_ = first_ + want_ * type().size;
  return go_on(me);
}

std::coroutine_handle<> stage_base::drop_elements(std::coroutine_handle<> me, dropped_errors& errors) {
  for (dropped_error& e : errors.list()) {
    status why = send_up(std::move(e));
    if (!why.ok()) return unwind(this, std::move(why));
  }
  return me;
}

status stage_base::send_up(dropped_error e) {
  for (promise_base* p = this; p; p = p->waiter) {
    if (p->is_task()) continue;  // whoever awaits it is above
    auto* s = static_cast<stage_base*>(p);
    if (s->has_output()) {
      s->keep_for_later(std::move(e));
      return {};
    }
    if (s->error_sink_) return s->error_sink_->met(std::move(e));
  }
  // The way up ends at a when_all or a scope of the user's: several ask at once there, and timing orders them anyway.
  return env && env->error_count ? env->error_count->met(std::move(e)) : status();
}

void stage_base::keep_for_later(dropped_error e) {
  if (!errors_) errors_ = std::make_unique<dropped_errors>();
  errors_->add(std::move(e));
  unusual_ |= kErrorsAhead;
  if (kind_ != kind::block) limit_ = put_ + type().size;  // one more element, and what is in front of it goes out
}

status stage_base::send_up_later_errors() noexcept {
  unusual_ &= static_cast<std::uint8_t>(~kErrorsAhead);
  std::unique_ptr<dropped_errors> errors = std::move(errors_);
  status why;
  try {
    for (dropped_error& e : errors->list())
      if (why.ok()) why = send_up(std::move(e));
  } catch (...) { why = current_exception_status(); }  // no memory to keep it further up
  if (!why.ok()) threw_ = false;                       // it ends with that one, whatever it has met itself behind it
  return why;
}

std::coroutine_handle<> stage_base::deliver_before_errors() {
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

std::coroutine_handle<> stage_base::deliver_one_behind() {
  unusual_ &= static_cast<std::uint8_t>(~kOneBehind);
  auto untaken = static_cast<std::uint32_t>(out_.size() - 1);  // of those handed over before it
  if (untaken) out_.view().drop_front(untaken);
  ++delivered_since_cut_;
  if (skip_ == 0) {
    handed_ = out_.view();
    return waiter->self;
  }
  --skip_;
  return serve_elements();
}

std::coroutine_handle<> stage_base::look_around(std::coroutine_handle<> me) {
  if (!env || !env->time) {
    turn_.look_never();
    return me;
  }
  turn::seen seen = turn_.look(*env);
  env->request_marks_by_time(seen.now);
  if (env->stopping.load(std::memory_order_acquire)) return unwind(this, cancelled_error());
  if (!seen.others_first) return me;
  env->exec->post_later(me);  // nothing of ours may be touched any more
  return gave_way();
}

std::coroutine_handle<> stage_base::flush() noexcept {
  end();
  if (kind_ != kind::block) return put_ != first_ && !skip_ ? deliver() : std::coroutine_handle<>();
  block made = std::exchange(held_, block{});
  std::uint32_t passed = static_cast<std::uint32_t>(std::min<std::uint64_t>(skip_, made.size()));
  skip_ -= passed;
  if (passed != made.size()) {
    if (passed) made.drop_front(passed);
    handed_ = made;
    return waiter->self;
  }
  if (unusual_ & kErrorsAhead) {  // they came behind what was made and is passed over
    status why = send_up_later_errors();
    if (!why.ok()) failure = std::move(why);
  }
  return {};
}

std::coroutine_handle<> stage_base::leave_stage() noexcept {
  if (kind_ != kind::block) {
    if (put_ != first_ && !skip_) return deliver();
    bool dropped = put_ != first_;
    count_delivered();     // also where nothing was made: the resume point may have moved since the last element
    if (dropped) --skip_;  // while passing over, at most one element is made and not yet dropped
  }
  return leave(this);
}

void stage_base::fail_with_current_exception() noexcept {
  failure = current_exception_status();
  if (!label_.empty()) failure = failure.in_stage(label_, current_element());
  threw_ = true;
  end();
}

stage_base* stage_base::input_stage() const { return inputs_.empty() ? nullptr : inputs_.first().stream->stage(); }

std::uint64_t stage_base::current_element() const {
  if (!numbers_errors_ || !started_ || !input_stage()) return provenance::kUnknown;
  const stream_base& in = *inputs_.first().stream;
  bool between = in.cur_ != nullptr && in.consumed() != start_ordinal_;  // at the end there is no view
  return between ? in.consumed() - 1 : provenance::kUnknown;
}

stage_base::restart stage_base::after_throw() {
  settle_cut();
  restart r;
  r.safe = kind_ == kind::stateless || user_cut_;
  for (int i = 0; i < saved_count_; ++i) r.safe = r.safe && saved_[i]->keeps_resume_point();
  bool remembers = saved_count_ > 0 || user_cut_;
  r.dropped_from = remembers ? inputs_.first().cut_ordinal : current_element();
  return r;
}

void stage_base::copy_saved_to(stage_base& fresh) const {
  position_writer w;
  for (int i = 0; i < saved_count_; ++i) saved_[i]->save(w, true);
  std::string bytes = w.bytes();
  position_reader r(bytes);
  for (int i = 0; i < fresh.saved_count_; ++i) fresh.saved_[i]->load(r);
}

}  // namespace sluice::lib
