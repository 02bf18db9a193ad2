// SPDX-License-Identifier: Apache-2.0
#include "ahead/slot_supply.hpp"

#include <algorithm>

#include "ahead/pump.hpp"
#include "sluice/coro/stream_base.hpp"
#include "sluice/runtime/ledger.hpp"

namespace sluice::lib {
namespace {

/// A block should take 50-200 µs to make: long against a hop and a wake (some 10 µs), short against a consumer's step.
constexpr auto kBlockTime = std::chrono::microseconds(100);

// Light blocks (docs/decisions/0037-light-blocks.md).
constexpr std::size_t kLightBlockBytes = std::size_t{256} << 10;  // half of what is in flight: stays in a cache
constexpr std::size_t kLightBytesMax = std::size_t{1} << 20;      // a larger block is never light
constexpr std::uint32_t kLightElementsMax = 4096;  // of the smallest elements: 32 KiB, a first-level cache
constexpr std::uint32_t kLightSlotsMax = 64;       // a slot takes some 500 bytes itself
constexpr double kLightNsMax = 1e6;                // whatever takes longer may be waiting
constexpr std::size_t kOwnedBytes = 256;   // an element with memory of its own: malloc's header, freed on another core
constexpr std::uint32_t kTimedBlocks = 8;  // of so many one is timed with the reader

}  // namespace

slot_supply::slot_supply(std::shared_ptr<run_context> run, channel_memory memory, const element_type& in,
                         const element_type& out, limits l)
    : run_(std::move(run)), memory_(std::move(memory)), limits_(l), in_(in), out_(out) {
  on_stop_.emplace(run_->stop, stopper{this});
}

slot_supply::~slot_supply() {
  on_stop_.reset();
  for (auto& s : slots_) charge(s.get(), 0);
  slots_.clear();
  give_back(granted_bytes_, granted_guess_bytes_);
}

bool slot_supply::grant() {
  if (granted_) return true;
  if (closed_ || stopped_) return false;
  bool full = is_full();
  bool beyond = beyond_limits();
  if (full && in_flight_ != 0 && !beyond) return false;
  memory_ledger& ledger = memory_.ledger();
  ledger_line& line = memory_.line();
  std::size_t bytes = memory_.expected_bytes(in_, out_, elements_for_one_slot());
  std::size_t guess = memory_.knows(in_, out_) ? 0 : bytes;
  ledger.add_guess(static_cast<std::ptrdiff_t>(guess), line);  // first, so that it is never taken for a peak
  if (beyond || (in_flight_ == 0 && (reader_waits_ || urged_))) {
    granted_bytes_ = ledger.charge_up_to(bytes, line);
    urged_ = false;
    granted_ = true;
  } else {
    granted_ = asked_for_room_ ? ledger.try_charge(bytes, line) : ledger.try_charge(bytes, line, weak_from_this());
    if (granted_) granted_bytes_ = bytes;
    else asked_for_room_ = true;
  }
  granted_guess_bytes_ = guess ? granted_bytes_ : 0;
  ledger.add_guess(static_cast<std::ptrdiff_t>(granted_guess_bytes_ - guess), line);
  return granted_;
}

std::size_t slot_supply::bytes_in_flight() const {
  return elements_in_flight_ * std::max<std::size_t>(1, memory_.estimate().each_bytes());
}

bool slot_supply::is_full() const {
  if (elements_in_flight_ >= limits_.elements) return true;
  if (!by_light_bytes()) return in_flight_ >= limits_.slots;
  return in_flight_ >= std::max(limits_.slots, kLightSlotsMax) || bytes_in_flight() >= limits_.light_bytes;
}

bool slot_supply::is_half_empty() const {
  if (elements_in_flight_ > limits_.elements / 2) return false;
  if (!by_light_bytes()) return in_flight_ * 2 <= limits_.slots;
  return in_flight_ * 2 <= std::max(limits_.slots, kLightSlotsMax) && bytes_in_flight() <= limits_.light_bytes / 2;
}

void slot_supply::give_back(std::size_t charged, std::size_t guessed) {
  memory_.ledger().add_guess(-static_cast<std::ptrdiff_t>(guessed), memory_.line());
  memory_.ledger().release(charged, memory_.line());
}

void slot_supply::charge(ring_slot* s, std::size_t bytes) {
  std::size_t guess = std::exchange(s->guessed_bytes, 0);
  if (guess) memory_.ledger().add_guess(-static_cast<std::ptrdiff_t>(guess), memory_.line());
  memory_.ledger().change(std::exchange(s->charged_bytes, bytes), bytes, memory_.line());
}

void slot_supply::room_again() noexcept {
  std::lock_guard lock(mutex_);
  asked_for_room_ = false;
  grant_pump();
}

bool slot_supply::busy() const {
  std::lock_guard lock(mutex_);
  return granted_ || urged_ || in_flight_ != 0;
}

void slot_supply::urge() {
  std::lock_guard lock(mutex_);
  urged_ = in_flight_ == 0;
  grant_pump();
}

std::uint32_t slot_supply::elements_for_one_slot() const {
  std::uint64_t left =
      beyond_limits() ? block_elements_ : limits_.elements - std::min(limits_.elements, elements_in_flight_);
  auto n = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, std::min<std::uint64_t>(block_elements_, left)));
  n = memory_.elements_that_fit(in_, out_, n);
  std::size_t each = memory_.estimate().each_bytes();
  if (each && is_light()) n = std::clamp<std::uint32_t>(static_cast<std::uint32_t>(kLightBlockBytes / each), 1, n);
  return n;
}

bool slot_supply::reserve_awaiter::await_ready() {
  std::lock_guard lock(supply_.mutex_);
  if (supply_.pump_must_wait()) return false;
  taken_ = supply_.take_granted();
  return true;
}

bool slot_supply::reserve_awaiter::await_suspend(std::coroutine_handle<> h) {
  began_ = supply_.run_->time->now();
  std::lock_guard lock(supply_.mutex_);
  if (!supply_.pump_must_wait()) return false;
  supply_.pump_waits_ = h;
  return true;
}

slot_supply::reservation slot_supply::reserve_awaiter::await_resume() {
  if (!taken_) {
    stage_counts& counts = supply_.memory_.counts();
    stage_counts::add(counts.room_waits, counts.room_waited_ns, supply_.run_->time->now() - began_);
    std::lock_guard lock(supply_.mutex_);
    taken_ = supply_.take_granted();
  }
  if (!taken_->got.slot) supply_.give_back(taken_->charged_bytes, taken_->guessed_bytes);
  return taken_->got;
}

slot_supply::granted slot_supply::take_granted() {
  granted g{{}, std::exchange(granted_bytes_, 0), std::exchange(granted_guess_bytes_, 0)};
  granted_ = false;
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
  s->count = 0;
  s->delivered = 0;
  s->waiting = 0;
  s->handed_on = false;
  s->first = stream_base::kNone;
  s->missed.clear();
  s->dropped.clear();
  s->taken.reset();
  s->why = status();
  s->charged_bytes = g.charged_bytes;
  s->guessed_bytes = g.guessed_bytes;
  std::uint32_t bytes = memory_.block_bytes();
  if (is_light()) bytes = std::min<std::uint32_t>(bytes, kLightBlockBytes);
  g.got = {s, elements_for_one_slot(), bytes};
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
  std::lock_guard lock(mutex_);
  s->rest = s->count - count;
  s->count = s->waiting = count;
}

void slot_supply::filled(ring_slot* s, std::uint64_t first, std::uint32_t count) {
  std::lock_guard lock(mutex_);
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
  std::unique_lock lock(mutex_);
  enter_inputs(s, first, count);
  size_blocks(took, *s);
  weigh(took, *s);
  return commit(s, s->input, lock);
}

bool slot_supply::commit_outputs(ring_slot* s, duration took) {
  stage_counts::add(memory_.counts().computed_ns, static_cast<std::uint64_t>(took.count()));
  std::unique_lock lock(mutex_);
  if (!computation_->awaits()) {
    size_blocks(took, *s);
    weigh(took, *s);
  }
  return commit(s, s->output, lock);
}

bool slot_supply::commit(ring_slot* s, slab& outputs, std::unique_lock<std::mutex>& lock) {
  s->outputs_in = &outputs;
  s->outputs_at = outputs.begin();
  s->output_count = static_cast<std::uint32_t>(outputs.size());
  set_state(s, ring_slot::state::done);
  bool wakes = reader_waits_ && (pick() || exhausted());
  if (wakes) wake(reader_waits_);
  lock.unlock();
  if (signal_) signal_->notify(number_, is_light());
  return wakes;
}

void slot_supply::finish(ring_slot* unused, status why, std::uint64_t not_passed) {
  if (unused) charge(unused, 0);
  std::unique_lock lock(mutex_);
  not_passed_ = not_passed;
  if (unused) {
    missed_at_end_ = std::exchange(unused->missed, dropped_errors());
    withdrawn(unused);
    --in_flight_;
    set_state(unused, ring_slot::state::free);
    free_.push_back(unused);
  }
  over_ = true;
  if (!stopped_) why_ = std::move(why);
  if (exhausted()) wake(reader_waits_);
  lock.unlock();
  if (signal_) signal_->notify(number_);
}

bool slot_supply::receive_awaiter::await_ready() {
  supply_.block_used();
  bool frees = done_ && supply_.emptied(done_);
  std::lock_guard lock(supply_.mutex_);
  if (frees) supply_.free_locked(done_);
  got_ = supply_.stopped_ ? nullptr : supply_.pick();
  if (got_) supply_.block_given(got_);
  return got_ || supply_.stopped_ || supply_.exhausted();
}

bool slot_supply::receive_awaiter::wait(std::coroutine_handle<> h) {
  waited_ = true;
  began_ = supply_.run_->time->now();
  std::lock_guard lock(supply_.mutex_);
  if (supply_.stopped_ || supply_.pick() || supply_.exhausted()) return false;
  supply_.reader_waits_ = h;
  supply_.grant_pump();  // it may sleep until the ring is half empty, or has memory
  return true;
}

ring_slot* slot_supply::receive_awaiter::await_resume() {
  if (!waited_) return got_;
  if (stage_) stage_->waited(supply_.run_->time->now() - began_);
  std::lock_guard lock(supply_.mutex_);
  got_ = supply_.stopped_ ? nullptr : supply_.pick();
  if (got_) supply_.block_given(got_);
  return got_;
}

void slot_supply::wake_pump() {
  bool in_batches = quick_ || by_light_bytes();
  if (!in_batches || is_half_empty()) grant_pump();
}

void slot_supply::hand_on_locked(ring_slot* s, std::uint32_t outputs, bool last) {
  std::uint32_t inputs = last ? s->waiting : std::min(outputs, s->waiting);
  s->waiting -= inputs;
  elements_in_flight_ -= inputs;
  if (last && s->rest) {
    set_state(s, ring_slot::state::filling);  // what comes next of it is yet to be made
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
    std::lock_guard lock(mutex_);
    set_state(s, ring_slot::state::filling);
    s->first += s->count;
    s->input_at += s->count;
    elements_in_flight_ -= s->waiting;
    s->count = s->waiting = std::exchange(s->rest, 0);
    s->delivered = 0;
    s->missed.clear();
    s->dropped.clear();
    s->taken.reset();
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
  std::lock_guard lock(mutex_);
  closed_ = true;
  wake(pump_waits_);
}

void slot_supply::stop() noexcept {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  why_ = cancelled_error();
  wake(pump_waits_);
  wake(reader_waits_);
  auto signal = signal_;
  lock.unlock();
  if (signal) signal->notify(number_);
}

void slot_supply::set_limits(limits l) {
  std::lock_guard lock(mutex_);
  limits_ = l;
  grant_pump();
}

void slot_supply::follow(const live_limits& l) {
  if (!l.knob) return;
  followed_ = l;
  l.knob->follow(std::shared_ptr<knob_follower>(shared_from_this(), this));
  knob_changed();  // it may have been set before it was followed
}

void slot_supply::size_blocks(duration took, const ring_slot& s) {
  quick_ = took < kBlockTime;
  std::size_t most = memory_.block_bytes(), bytes = s.charged_bytes;
  if (took > kBlockTime * 2 || bytes > most) block_elements_ = std::max(1u, std::min(block_elements_, s.count) / 2);
  else if (took < kBlockTime / 2 && bytes < most / 2 && s.count >= block_elements_)
    block_elements_ = std::min(block_elements_ * 2, by_light_bytes() ? kLightElementsMax : kBlockElementsMax);
}

void slot_supply::weigh(duration took, const ring_slot& s) {
  if (s.count == 0) return;
  size_estimate& estimate = memory_.estimate();
  estimate.learn_made(static_cast<double>(took.count()), s.count);
  double made = estimate.made_ns(), used = estimate.used_ns();
  // One pump beside one reader gains what the quicker of the two takes; several pumps or computations also each other's.
  bool pair = !computation_ && !signal_;
  double gain = pair && used >= 0 ? std::min(made, used) : made;
  // What counts is the block that would be shared, not the small ones a channel begins with.
  std::size_t each = std::max<std::size_t>(1, estimate.each_bytes());
  double most =
      std::min<double>(kBlockElementsMax, static_cast<double>(memory_.block_bytes()) / static_cast<double>(each));
  double n = std::max(1.0, std::min(most, std::chrono::duration<double, std::nano>(kBlockTime).count() / made));
  bool owns = owns_bytes(in_) || owns_bytes(out_);
  double moved = n * static_cast<double>(each + (owns ? kOwnedBytes : 0));
  bool may_be = made * n <= kLightNsMax && n * static_cast<double>(each) <= static_cast<double>(kLightBytesMax);
  estimate.set_light(may_be && !run_->exec->worth_sharing(duration(static_cast<duration::rep>(gain * n)),
                                                          static_cast<std::size_t>(moved)));
}

void slot_supply::block_given(const ring_slot* s) {
  if (computation_ || given_++ % kTimedBlocks != 0) return;
  given_elements_ = s->output_count;
  given_at_ = run_->time->now();
}

void slot_supply::block_used() {
  if (given_elements_ == 0) return;
  duration took = run_->time->now() - given_at_;
  memory_.estimate().learn_used(static_cast<double>(took.count()), std::exchange(given_elements_, 0));
}

}  // namespace sluice::lib
