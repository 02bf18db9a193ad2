// SPDX-License-Identifier: Apache-2.0
#include "ahead/unordered_ring.hpp"

namespace sluice::lib {

unordered_ring::unordered_ring(std::shared_ptr<run_context> run, channel_memory memory, const element_type& in,
                               const element_type& out, limits l, std::uint64_t next, mark begin)
    : slot_supply(std::move(run), std::move(memory), in, out, l) {
  mutex_lock lock(mutex_);  // a stop may happen concurrently
  next_ = next;
  marks_.push_back(std::move(begin));
}

void unordered_ring::note(ring_slot*, mark m) {
  mutex_lock lock(mutex_);
  marks_.push_back(std::move(m));
}

slot_supply::receive_awaiter unordered_ring::receive(std::uint64_t ordinal) {
  mutex_lock lock(mutex_);
  needed_ = ordinal;
  return receive_awaiter(*this, nullptr);
}

void unordered_ring::hand_on(ring_slot* s, std::uint32_t outputs) {
  bool last = s->delivered + outputs >= s->output_count;
  if (last) charge_handed_on(s);
  mutex_lock lock(mutex_);
  s->delivered += outputs;
  hand_on_locked(s, outputs, last);
}

void unordered_ring::release(ring_slot* s) {
  if (!emptied(s)) return;
  mutex_lock lock(mutex_);
  free_locked(s);
}

void unordered_ring::replay(std::uint64_t ordinal) {
  mutex_lock lock(mutex_);
  chosen_ = ordinal;
  grant_pump();
}

ring_slot* unordered_ring::pick() const {
  if (needed_ != stream_base::kNone && needed_ >= next_) return nullptr;  // no slot has it yet; there may be thousands
  for (ring_slot* s : order_)
    if (s->at == ring_slot::state::done && (needed_ == stream_base::kNone || s->first + s->delivered == needed_))
      return s;
  return nullptr;
}

bool unordered_ring::exhausted() const {
  // A forged choice: the input was taken, and is not the first remaining one of any slot. It will never be ready.
  const std::uint64_t needed = needed_;
  if (needed != stream_base::kNone && next_ > needed &&
      std::none_of(order_.begin(), order_.end(),
                   [needed](const ring_slot* s) { return s->first + s->delivered == needed; }))
    return true;
  return slot_supply::exhausted();
}

bool unordered_ring::too_far_beyond() const {
  // A slot of the run that made the choice may now be one slot for each of its elements.
  constexpr std::size_t kSlotsMin = 16;  // the limit may have been higher in that run
  std::size_t slots_max = std::max<std::size_t>(limits_.slots, kSlotsMin);
  bool too_much = in_flight_ > slots_max && run_->ledger->used_bytes() / 2 > run_->ledger->budget_bytes();
  return too_much || in_flight_ > slots_max * block_size::kElementsMax;
}

std::uint64_t unordered_ring::lowest() const {
  std::uint64_t lowest = next_;
  for (const ring_slot* s : order_)
    if (s->first != stream_base::kNone) lowest = std::min(lowest, s->first + s->delivered);
  return lowest;
}

mark unordered_ring::place() {
  mutex_lock lock(mutex_);
  std::uint64_t ordinal = lowest();
  while (marks_.size() > 1 && marks_[1].ordinal <= ordinal) marks_.erase(marks_.begin());
  mark below = marks_[0];
  below.advance_to(ordinal);
  return below;
}

}  // namespace sluice::lib
