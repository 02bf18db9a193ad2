// SPDX-License-Identifier: Apache-2.0
#include "ahead/block_ring.hpp"

#include <algorithm>

#include "ahead/pump.hpp"
#include "sluice/runtime/ledger.hpp"

namespace sluice::lib {
namespace {

/// A block should take 50-200 µs to make: long against a hop and a wake (some 10 µs), short against a consumer's step.
constexpr auto kBlockTime = std::chrono::microseconds(100);
constexpr std::uint32_t kBlockElementsMax = 1024;

}  // namespace

block_ring::block_ring(std::shared_ptr<run_context> run, channel_memory memory, const element_type& in,
                       const element_type& out, limits l, bool ordered)
    : run_(std::move(run)), memory_(std::move(memory)), in_(in), out_(out), ordered_(ordered), limits_(l) {
  on_stop_.emplace(run_->stop, stopper{this});
}

block_ring::~block_ring() {
  on_stop_.reset();
  for (auto& s : slots_) charge(s.get(), 0);
  slots_.clear();
  give_back(granted_bytes_, granted_guess_bytes_);
}

void block_ring::wake(std::coroutine_handle<>& waiting) {
  if (waiting) run_->exec->post(std::exchange(waiting, {}));
}

bool block_ring::grant() {
  if (granted_) return true;
  if (closed_ || stopped_) return false;
  std::size_t in_flight = order_.size() - head_ - handed_on_;
  bool full = in_flight >= limits_.slots || elements_in_flight_ >= limits_.elements;
  if (full && in_flight != 0 && !must_reach_choice()) return false;
  memory_ledger& ledger = memory_.ledger();
  ledger_line& line = memory_.line();
  std::size_t bytes = memory_.expected_bytes(in_, out_, elements_for_one_slot());
  std::size_t guess = memory_.knows(in_, out_) ? 0 : bytes;
  ledger.add_guess(static_cast<std::ptrdiff_t>(guess), line);  // first, so that it is never taken for a peak
  if (must_reach_choice() || (in_flight == 0 && (reader_waits_ || urged_))) {
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

void block_ring::give_back(std::size_t charged, std::size_t guessed) {
  memory_.ledger().add_guess(-static_cast<std::ptrdiff_t>(guessed), memory_.line());
  memory_.ledger().release(charged, memory_.line());
}

void block_ring::charge(ring_slot* s, std::size_t bytes) {
  std::size_t guess = std::exchange(s->guessed_bytes, 0);
  if (guess) memory_.ledger().add_guess(-static_cast<std::ptrdiff_t>(guess), memory_.line());
  memory_.ledger().change(std::exchange(s->charged_bytes, bytes), bytes, memory_.line());
}

void block_ring::room_again() noexcept {
  std::lock_guard lock(mutex_);
  asked_for_room_ = false;
  if (pump_waits_ && grant()) wake(pump_waits_);
}

bool block_ring::busy() const {
  std::lock_guard lock(mutex_);
  return granted_ || urged_ || order_.size() != head_ + handed_on_;
}

void block_ring::urge() {
  std::lock_guard lock(mutex_);
  urged_ = order_.size() == head_ + handed_on_;
  if (pump_waits_ && grant()) wake(pump_waits_);
}

std::uint32_t block_ring::elements_for_one_slot() const {
  std::uint64_t left =
      must_reach_choice() ? block_elements_ : limits_.elements - std::min(limits_.elements, elements_in_flight_);
  auto n = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, std::min<std::uint64_t>(block_elements_, left)));
  return memory_.elements_that_fit(in_, out_, n);
}

bool block_ring::choice_out_of_reach() const {
  // A slot of the run that made the choice may come back as one slot for each of its elements.
  constexpr std::size_t kSlotsMin = 16;  // the limit may have been higher in that run
  std::size_t in_flight = order_.size() - head_ - handed_on_;
  std::size_t slots_max = std::max<std::size_t>(limits_.slots, kSlotsMin);
  bool too_much = in_flight > slots_max && run_->ledger->used_bytes() / 2 > run_->ledger->budget_bytes();
  return too_much || in_flight > slots_max * kBlockElementsMax;
}

bool block_ring::reserve_awaiter::await_suspend(std::coroutine_handle<> h) {
  std::lock_guard lock(ring_.mutex_);
  if (ring_.closed_ || ring_.stopped_ || ring_.grant()) return false;
  ring_.pump_waits_ = h;
  return true;
}

block_ring::reservation block_ring::reserve_awaiter::await_resume() {
  block_ring& r = ring_;
  std::unique_lock lock(r.mutex_);
  std::size_t charged = std::exchange(r.granted_bytes_, 0), guessed = std::exchange(r.granted_guess_bytes_, 0);
  r.granted_ = false;
  bool out_of_reach = !r.closed_ && !r.stopped_ && r.must_reach_choice() && r.choice_out_of_reach();
  if (out_of_reach) {
    r.over_ = true;
    r.why_ = damaged_position();
    if (r.exhausted(r.reader_needs_)) r.wake(r.reader_waits_);
  }
  if (out_of_reach || r.closed_ || r.stopped_) {
    lock.unlock();
    r.give_back(charged, guessed);
    return {};
  }
  if (r.free_.empty()) {
    r.slots_.push_back(std::make_unique<ring_slot>(r.in_, r.out_));
    r.free_.push_back(r.slots_.back().get());
  }
  ring_slot* s = r.free_.back();
  r.free_.pop_back();
  s->at = ring_slot::state::filling;
  s->count = 0;
  s->delivered = 0;
  s->waiting = 0;
  s->handed_on = false;
  s->first = stream_base::kNone;
  s->missed.clear();
  s->dropped.clear();
  s->taken.reset();
  s->why = status();
  s->charged_bytes = charged;
  s->guessed_bytes = guessed;
  reservation got{s, r.elements_for_one_slot()};
  r.order_.push_back(s);
  return got;
}

bool block_ring::has_room(ring_slot* s, std::size_t bytes, std::size_t next) {
  if (bytes + next <= s->charged_bytes) return true;
  if (bytes + next > memory_.block_bytes()) return false;
  std::size_t more = bytes + next - s->charged_bytes;
  if (!memory_.ledger().try_charge(more, memory_.line())) return false;
  s->charged_bytes += more;
  return true;
}

void block_ring::cut_short(ring_slot* s, std::uint32_t count) {
  std::lock_guard lock(mutex_);
  s->rest = s->count - count;
  s->count = s->waiting = count;
}

void block_ring::filled(ring_slot* s, std::uint64_t first, std::uint32_t count) {
  std::lock_guard lock(mutex_);
  s->input_at = s->rest = 0;
  s->first = first;
  s->count = s->waiting = count;
  elements_in_flight_ += count;
  next_ = first + count;
}

bool block_ring::commit(ring_slot* s, bool computed) {
  s->outputs_in = computed ? &s->output : &s->input;
  s->outputs_at = s->outputs_in->begin();
  s->output_count = static_cast<std::uint32_t>(s->outputs_in->size());
  std::unique_lock lock(mutex_);
  s->at = ring_slot::state::done;
  bool wakes = reader_waits_ && (pick(reader_needs_) || exhausted(reader_needs_));
  if (wakes) wake(reader_waits_);
  lock.unlock();
  if (signal_) signal_->notify(number_);
  return wakes;
}

void block_ring::note(ring_slot* s, mark m) {
  if (ordered_) {
    s->taken.emplace(std::move(m));
    return;
  }
  std::lock_guard lock(mutex_);
  marks_.push_back(std::move(m));
}

void block_ring::begin_at(std::uint64_t ordinal, mark m) {
  std::lock_guard lock(mutex_);
  next_ = ordinal;
  marks_.push_back(std::move(m));
}

void block_ring::finish(ring_slot* unused, status why, std::uint64_t not_passed) {
  if (unused) charge(unused, 0);
  std::unique_lock lock(mutex_);
  not_passed_ = not_passed;
  if (unused) {
    missed_at_end_ = std::exchange(unused->missed, dropped_errors());
    order_.pop_back();
    unused->at = ring_slot::state::free;
    free_.push_back(unused);
  }
  over_ = true;
  if (!stopped_) why_ = std::move(why);
  if (exhausted(reader_needs_)) wake(reader_waits_);
  lock.unlock();
  if (signal_) signal_->notify(number_);
}

ring_slot* block_ring::pick(std::uint64_t ordinal) const {
  std::size_t first = head_ + (ordered_ ? handed_on_ : 0);
  if (order_.size() == first) return nullptr;
  if (ordered_) return order_[first]->at == ring_slot::state::done ? order_[first] : nullptr;
  if (ordinal != stream_base::kNone && ordinal >= next_) return nullptr;  // no slot has it yet; there may be thousands
  for (std::size_t i = head_; i != order_.size(); ++i) {
    ring_slot* s = order_[i];
    if (s->at == ring_slot::state::done && !s->handed_on &&
        (ordinal == stream_base::kNone || s->first + s->delivered == ordinal))
      return s;
  }
  return nullptr;
}

bool block_ring::exhausted(std::uint64_t ordinal) const {
  if (pick(ordinal)) return false;
  // A forged choice of an input that was taken and does not begin what is left of any slot: it will never be ready.
  if (ordinal != stream_base::kNone && next_ > ordinal &&
      std::none_of(order_.begin() + static_cast<std::ptrdiff_t>(head_), order_.end(),
                   [ordinal](const ring_slot* s) { return s->first + s->delivered == ordinal; }))
    return true;
  if (!over_) return false;
  return std::none_of(order_.begin() + static_cast<std::ptrdiff_t>(head_), order_.end(),
                      [](const ring_slot* s) { return s->at == ring_slot::state::filling; });
}

bool block_ring::receive_awaiter::await_suspend(std::coroutine_handle<> h) {
  block_ring& r = ring_;
  std::lock_guard lock(r.mutex_);
  if (r.stopped_ || r.pick(ordinal_) || r.exhausted(ordinal_)) return false;
  r.reader_needs_ = ordinal_;
  r.reader_waits_ = h;
  if (r.pump_waits_ && r.grant()) r.wake(r.pump_waits_);  // it may sleep until the ring is half empty, or has memory
  return true;
}

ring_slot* block_ring::receive_awaiter::await_resume() {
  std::lock_guard lock(ring_.mutex_);
  return ring_.stopped_ ? nullptr : ring_.pick(ordinal_);
}

bool block_ring::ready(std::uint64_t ordinal) const {
  std::lock_guard lock(mutex_);
  return pick(ordinal) || stopped_ || (over_ && order_.size() == head_ + handed_on_);
}

void block_ring::wake_pump() {
  std::size_t in_flight = order_.size() - head_ - handed_on_;
  bool half_empty = in_flight * 2 <= limits_.slots && elements_in_flight_ <= limits_.elements / 2;
  if (pump_waits_ && (!quick_ || half_empty) && grant()) wake(pump_waits_);
}

void block_ring::hand_on(ring_slot* s, std::uint32_t outputs, bool last) {
  if (last) charge(s, s->rest ? payload_bytes(s->input) : 0);  // before the lock: it may call other channels
  std::lock_guard lock(mutex_);
  std::uint32_t inputs = last ? s->waiting : std::min(outputs, s->waiting);
  s->waiting -= inputs;
  elements_in_flight_ -= inputs;
  if (last && s->rest) {
    s->at = ring_slot::state::filling;  // what comes next of it is yet to be made
  } else if (last) {
    s->handed_on = true;
    ++handed_on_;
  }
  wake_pump();
}

void block_ring::compute_rest(ring_slot* s) {
  s->output.clear();
  std::size_t inputs = payload_bytes(s->input), outputs = memory_.expected_bytes(in_, out_, 1);
  charge(s, inputs);
  s->charged_bytes += memory_.ledger().charge_up_to(outputs, memory_.line());
  {
    std::lock_guard lock(mutex_);
    s->at = ring_slot::state::filling;
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
}

void block_ring::release(ring_slot* s) {
  if (s->rest && s->why.ok()) return compute_rest(s);
  drop_large_room(s->output);
  drop_large_room(s->input);
  charge(s, 0);
  std::lock_guard lock(mutex_);
  elements_in_flight_ -= s->waiting;
  if (s->handed_on) --handed_on_;
  s->at = ring_slot::state::free;
  free_.push_back(s);
  if (ordered_) {
    if (++head_ == order_.size() || head_ == 64) {  // a queue in a vector: its front is cut off now and then
      order_.erase(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  } else {
    order_.erase(std::find(order_.begin(), order_.end(), s));
    if (over_ && order_.empty()) wake(reader_waits_);
  }
  wake_pump();
}

void block_ring::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  wake(pump_waits_);
}

void block_ring::stop() noexcept {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  why_ = cancelled_error();
  wake(pump_waits_);
  wake(reader_waits_);
  auto signal = signal_;
  lock.unlock();
  if (signal) signal->notify(number_);
}

void block_ring::set_limits(limits l) {
  std::lock_guard lock(mutex_);
  limits_ = l;
  if (pump_waits_ && grant()) wake(pump_waits_);
}

void block_ring::made_in(duration took, std::uint32_t elements, std::size_t bytes) {
  std::lock_guard lock(mutex_);
  quick_ = took < kBlockTime;
  std::size_t most = memory_.block_bytes();
  if (took > kBlockTime * 2 || bytes > most) block_elements_ = std::max(1u, std::min(block_elements_, elements) / 2);
  else if (took < kBlockTime / 2 && bytes < most / 2 && elements >= block_elements_)
    block_elements_ = std::min(block_elements_ * 2, kBlockElementsMax);
}

void block_ring::replay(std::uint64_t ordinal) {
  std::lock_guard lock(mutex_);
  chosen_ = ordinal;
  if (pump_waits_ && grant()) wake(pump_waits_);
}

std::uint64_t block_ring::lowest_undelivered() const {
  std::uint64_t lowest = next_;
  for (std::size_t i = head_; i != order_.size(); ++i)
    if (order_[i]->first != stream_base::kNone) lowest = std::min(lowest, order_[i]->first + order_[i]->delivered);
  return lowest;
}

}  // namespace sluice::lib
