// SPDX-License-Identifier: Apache-2.0
#include "ahead/slot_supply.hpp"

#include <algorithm>

#include "ahead/pump.hpp"
#include "coro/trace_log.hpp"
#include "sluice/coro/stream_base.hpp"
#include "sluice/runtime/ledger.hpp"

namespace sluice::lib {

slot_supply::slot_supply(std::shared_ptr<run_context> run, channel_memory memory, const element_type& in,
                         const element_type& out, limits l)
    : run_(std::move(run)), memory_(std::move(memory)), limits_(l), in_(in), out_(out) {
  on_stop_.emplace(run_->stop, stopper{this});
  listed_.emplace(memory_.record(), this,
                  [](const void* channel) { return static_cast<const slot_supply*>(channel)->fill(); });
}

slot_supply::~slot_supply() {
  listed_.reset();
  on_stop_.reset();
  for (auto& s : slots_) charge(s.get(), 0);
  slots_.clear();
}

channel_fill slot_supply::fill() const {
  mutex_lock lock(mutex_);
  const bool is_limited = limits_.elements != limits().elements;
  return {.blocks = in_flight_,
          .blocks_max = limits_.slots,
          .elements = elements_in_flight_,
          .elements_max = is_limited ? limits_.elements : 0};
}

bool slot_supply::grant() {
  if (admission_.is_granted()) return true;
  if (closed_ || stopped_) return false;
  bool full = in_flight_ >= limits_.slots || elements_in_flight_ >= limits_.elements;
  bool beyond = beyond_limits();
  if (full && in_flight_ != 0 && !beyond) return false;
  std::size_t bytes = memory_.expected_bytes(in_, out_, elements_for_one_slot());
  channel_memory::charge expected{bytes, memory_.knows(in_, out_) ? 0 : bytes};
  if (!beyond && (in_flight_ != 0 || !(reader_waits_ || urged_)))
    return admission_.grant_if_it_fits(expected, weak_from_this());
  admission_.grant_anyway(expected);
  urged_ = false;
  return true;
}

void slot_supply::charge(ring_slot* s, std::size_t bytes) {
  std::size_t guess = std::exchange(s->guessed_bytes, 0);
  if (guess) memory_.ledger().add_guess(-static_cast<std::ptrdiff_t>(guess), memory_.line());
  memory_.ledger().change(std::exchange(s->charged_bytes, bytes), bytes, memory_.line());
}

void slot_supply::room_again() noexcept {
  mutex_lock lock(mutex_);
  admission_.room_again();
  grant_pump();
}

bool slot_supply::busy() const {
  mutex_lock lock(mutex_);
  return admission_.is_granted() || urged_ || in_flight_ != 0;
}

void slot_supply::urge() {
  mutex_lock lock(mutex_);
  urged_ = in_flight_ == 0;
  grant_pump();
}

std::uint64_t slot_supply::to_end_of_group(std::uint64_t n) const {
  constexpr std::uint64_t kStretch = 8;
  if (group_ <= 1) return n;
  const std::uint64_t to_end = group_ - next_ % group_;
  if (n >= to_end) return to_end + (n - to_end) / group_ * group_;
  return n >= group_ / kStretch ? to_end : n;
}

std::uint32_t slot_supply::elements_for_one_slot() const {
  std::uint64_t left =
      beyond_limits() ? size_.elements() : limits_.elements - std::min(limits_.elements, elements_in_flight_);
  auto n = static_cast<std::uint32_t>(
      std::max<std::uint64_t>(1, std::min<std::uint64_t>(to_end_of_group(size_.elements()), left)));
  return memory_.elements_that_fit(in_, out_, n);
}

bool slot_supply::reserve_awaiter::await_ready() {
  mutex_lock lock(supply_.mutex_);
  if (supply_.pump_must_wait()) return false;
  taken_ = supply_.take_granted();
  return true;
}

bool slot_supply::reserve_awaiter::await_suspend(std::coroutine_handle<> h) {
  began_ = supply_.run_->time->now();
  mutex_lock lock(supply_.mutex_);
  if (!supply_.pump_must_wait()) return false;
  why_ = supply_.why_pump_waits();
  supply_.pump_waits_ = h;
  return true;
}

slot_supply::reservation slot_supply::reserve_awaiter::await_resume() {
  if (!taken_) {
    const time_point now = supply_.run_->time->now();
    supply_.memory_.counts().add_wait(why_, now - began_);
    if (tracing()) trace_wait({&supply_.memory_.record(), supply_.memory_.record().name()}, why_, began_, now);
    mutex_lock lock(supply_.mutex_);
    taken_ = supply_.take_granted();
  }
  if (!taken_->got.slot) supply_.memory_.credit(taken_->charged);
  return taken_->got;
}

slot_supply::granted slot_supply::take_granted() {
  granted g{{}, admission_.take()};
  if (closed_ || stopped_) return g;
  if (beyond_limits() && too_far_beyond()) {
    over_ = true;
    why_ = damaged_position();
    if (exhausted()) wake(reader_waits_);
    return g;
  }
  if (free_.empty()) {
    slots_.push_back(std::make_unique<ring_slot>(in_, out_));
    free_.push_back(slots_.back().get());
  }
  ring_slot* s = free_.back();
  free_.pop_back();
  set_state(s, ring_slot::state::filling);
  s->begin_block();
  if (tracing()) trace_granted(s);
  s->first = stream_base::kNone;
  s->charged_bytes = g.charged.bytes;
  s->guessed_bytes = g.charged.guessed_bytes;
  g.got = {s, elements_for_one_slot()};
  ++in_flight_;
  entered(s);
  return g;
}

bool slot_supply::has_room(ring_slot* s, std::size_t bytes, std::size_t next) {
  if (bytes + next <= s->charged_bytes) return true;
  if (bytes + next > memory_.block_bytes()) return false;
  std::size_t more = bytes + next - s->charged_bytes;
  if (!memory_.ledger().try_charge(more, memory_.line())) return false;
  s->charged_bytes += more;
  return true;
}

void slot_supply::cut_short(ring_slot* s, std::uint32_t count) {
  mutex_lock lock(mutex_);
  s->rest = s->count - count;
  s->count = s->waiting = count;
}

void slot_supply::filled(ring_slot* s, std::uint64_t first, std::uint32_t count, duration took) {
  if (asks_for_input_) memory_.costs().learn_pulled(took, count);
  if (s->trace.is_wanted) trace_filled(*s, took);
  mutex_lock lock(mutex_);
  enter_inputs(s, first, count);
}

void slot_supply::enter_inputs(ring_slot* s, std::uint64_t first, std::uint32_t count) {
  s->input_at = s->rest = 0;
  s->first = first;
  s->count = s->waiting = count;
  elements_in_flight_ += count;
  next_ = first + count;
}

bool slot_supply::commit_inputs(ring_slot* s, std::uint64_t first, std::uint32_t count, duration took) {
  mutex_lock lock(mutex_);
  enter_inputs(s, first, count);
  size_.learn(took, s->count, s->charged_bytes, memory_.block_bytes());
  if (asks_for_input_) {
    memory_.costs().learn_pulled(took, count);
    memory_.weigh(in_, out_, signal_ != nullptr);
  }
  const traced_put put = trace_put(s);
  bool wakes = commit(s, s->input);
  lock.unlock();
  if (put.is_wanted) trace_has_put(put, took);
  notify_reader();
  return wakes;
}

bool slot_supply::commit_outputs(ring_slot* s, duration took, std::size_t each_bytes) {
  stage_counts& counts = memory_.counts();
  const auto ns = static_cast<std::uint64_t>(took.count());
  stage_counts::rare_counts& of_tasks = counts.rare();
  stage_counts::add(computation_->awaits() ? of_tasks.in_flight_ns : of_tasks.computed_ns, ns);
  stage_counts::add(of_tasks.computed_elements, s->count);
  counts.add_squares(of_tasks.computed_square, ns, s->count, 1);
  counts.add_to_class(each_bytes, s->count, ns);
  mutex_lock lock(mutex_);
  if (!computation_->awaits()) size_.learn(took, s->count, s->charged_bytes, memory_.block_bytes());
  if (asks_for_input_) {
    memory_.costs().learn_computed(took, s->count);
    memory_.weigh(in_, out_, signal_ != nullptr);
  }
  const traced_put put = trace_put(s);
  bool wakes = commit(s, s->output);
  lock.unlock();
  if (put.is_wanted) trace_has_put(put, took);
  notify_reader();
  return wakes;
}

bool slot_supply::commit(ring_slot* s, slab& outputs) {
  s->outputs_in = &outputs;
  s->outputs_at = outputs.begin();
  s->output_count = static_cast<std::uint32_t>(outputs.size());
  set_state(s, ring_slot::state::done);
  bool wakes = reader_waits_ && (pick() || exhausted());
  if (wakes) wake(reader_waits_);
  return wakes;
}

void slot_supply::finish(ring_slot* unused, status why, std::uint64_t not_passed) {
  if (unused) charge(unused, 0);
  mutex_lock lock(mutex_);
  not_passed_ = not_passed;
  if (unused) {
    missed_at_end_ = std::exchange(unused->missed, dropped_errors());
    withdrawn(unused);
    --in_flight_;
    set_state(unused, ring_slot::state::free);
    free_.push_back(unused);
  }
  if (!stopped_) why_ = std::move(why);
  end();
  lock.unlock();
  notify_reader();
}

void slot_supply::end() {
  over_ = true;
  if (exhausted()) wake(reader_waits_);
}

bool slot_supply::wants_input() const {
  if (!asks_for_input_ || !memory_.costs().is_light()) return false;
  mutex_lock lock(mutex_);
  return !closed_ && !stopped_;
}

void slot_supply::return_input(erased_stream in, dropped_errors missed) {
  mutex_lock lock(mutex_);
  if (closed_) {
    lock.unlock();
    return;  // destroys the input
  }
  returned_ = std::move(in);
  missed_at_end_ = std::move(missed);
  end();
  lock.unlock();
  notify_reader();
}

erased_stream slot_supply::take_input() {
  mutex_lock lock(mutex_);
  return stopped_ ? erased_stream() : std::move(returned_);
}

bool slot_supply::receive_awaiter::await_ready() {
  if (tracing()) began_ = supply_.run_->time->now();
  supply_.end_use();
  bool frees = done_ && supply_.emptied(done_);
  mutex_lock lock(supply_.mutex_);
  if (frees) supply_.free_locked(done_);
  got_ = supply_.stopped_ ? nullptr : supply_.pick();
  if (!got_) return supply_.stopped_ || supply_.exhausted();
  supply_.begin_use(*got_);
  lock.unlock();
  if (got_->trace.track) supply_.trace_taken(got_, began_);
  return true;
}

bool slot_supply::receive_awaiter::wait(std::coroutine_handle<> h) {
  waited_ = true;
  began_ = supply_.run_->time->now();
  mutex_lock lock(supply_.mutex_);
  if (supply_.stopped_ || supply_.pick() || supply_.exhausted()) return false;
  why_ = supply_.why_reader_waits();
  supply_.reader_waits_ = h;
  supply_.grant_pump();  // the pump may sleep until the ring is half empty, or has memory
  return true;
}

ring_slot* slot_supply::receive_awaiter::await_resume() {
  if (!waited_) return got_;
  const time_point now = supply_.run_->time->now();
  if (stage_) stage_->waited(now - began_, why_);
  if (stage_ && tracing()) trace_wait(*stage_, why_, began_, now);
  mutex_lock lock(supply_.mutex_);
  got_ = supply_.stopped_ ? nullptr : supply_.pick();
  if (!got_) return got_;
  supply_.begin_use(*got_);
  lock.unlock();
  if (got_->trace.track) supply_.trace_taken(got_, now);
  return got_;
}

wait_reason slot_supply::why_pump_waits() const {
  const bool is_full = in_flight_ >= limits_.slots || elements_in_flight_ >= limits_.elements;
  if (!is_full) return wait_reason::memory;
  return computation_ && filling_ == in_flight_ ? wait_reason::limit : wait_reason::room;
}

wait_reason slot_supply::why_reader_waits() const {
  const bool is_pulled = pump_waits_ == nullptr;  // the pump fills a slot, or will
  return computation_ && filling_ > (is_pulled ? 1u : 0u) ? wait_reason::calls : wait_reason::input;
}

void slot_supply::wake_pump() {
  bool half_empty = in_flight_ * 2 <= limits_.slots && elements_in_flight_ <= limits_.elements / 2;
  if (!size_.is_quick() || half_empty) grant_pump();
}

void slot_supply::hand_on_locked(ring_slot* s, std::uint32_t outputs, bool last) {
  std::uint32_t inputs = last ? s->waiting : std::min(outputs, s->waiting);
  s->waiting -= inputs;
  elements_in_flight_ -= inputs;
  if (last && s->rest) {
    set_state(s, ring_slot::state::filling);  // the rest of its outputs must still be computed
  } else if (last) {
    s->handed_on = true;
    --in_flight_;
    left(s);
  }
  wake_pump();
}

bool slot_supply::emptied(ring_slot* s) {
  if (!s->rest || !s->why.ok()) {
    drop_large_room(s->output);
    drop_large_room(s->input);
    charge(s, 0);
    return true;
  }
  s->output.clear();
  std::size_t inputs = payload_bytes(s->input), outputs = memory_.expected_bytes(in_, out_, 1);
  charge(s, inputs);
  s->charged_bytes += memory_.ledger().charge_up_to(outputs, memory_.line());
  {
    mutex_lock lock(mutex_);
    set_state(s, ring_slot::state::filling);
    elements_in_flight_ -= s->begin_rest();
  }
  start_computing(shared_from_this(), s);
  return false;
}

void slot_supply::free_locked(ring_slot* s) {
  elements_in_flight_ -= s->waiting;
  if (!s->handed_on) {
    --in_flight_;
    left(s);
  }
  set_state(s, ring_slot::state::free);
  free_.push_back(s);
  wake_pump();
}

void slot_supply::close() {
  mutex_lock lock(mutex_);
  closed_ = true;
  wake(pump_waits_);
}

void slot_supply::stop() noexcept {
  mutex_lock lock(mutex_);
  stopped_ = true;
  why_ = cancelled_error();
  wake(pump_waits_);
  wake(reader_waits_);
  auto signal = signal_;
  lock.unlock();
  if (signal) signal->notify(number_);
}

void slot_supply::set_limits(limits l) {
  mutex_lock lock(mutex_);
  limits_ = l;
  grant_pump();
}

void slot_supply::follow(const live_limits& l) {
  if (!l.knob) return;
  followed_ = l;
  l.knob->follow(std::shared_ptr<knob_follower>(shared_from_this(), this));
  knob_changed();  // the knob may have been set before this call
}

}  // namespace sluice::lib
