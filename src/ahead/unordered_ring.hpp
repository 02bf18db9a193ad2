// SPDX-License-Identifier: Apache-2.0
// A channel between two stages whose reader gets the slots in the order in which their computation finishes. While a
// resumed run replays choices from a checkpoint, the order follows these choices. Marks are stored beside the slots:
// the position of the input is at the lowest ordinal whose output was not delivered.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "ahead/slot_supply.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

class unordered_ring final : public slot_supply {
 public:
  /// `begin`: the current position of the input, at its ordinal `next`.
  unordered_ring(std::shared_ptr<run_context> run, channel_memory memory, const element_type& in,
                 const element_type& out, limits l, std::uint64_t next, mark begin);

  void note(ring_slot*, mark m) override;

  /// Returns a finished slot, or the one whose next output is input ordinal `ordinal`. Returns null at the end, and
  /// then why() has the reason; or if no input has that ordinal.
  receive_awaiter receive(std::uint64_t ordinal = stream_base::kNone);
  /// The consumer is about to get the next `outputs` of the slot. After its last output a slot is not received again.
  void hand_on(ring_slot* s, std::uint32_t outputs);
  /// The consumer has finished with the slot, and all of its outputs are handed on.
  void release(ring_slot* s);

  /// The reader repeats logged choices, and the next is input `ordinal`; kNone: no choices are left. Until the pump has
  /// taken that input, more slots may be in flight than the limits allow.
  void replay(std::uint64_t ordinal);
  /// Returns the lowest ordinal of an input that is not delivered yet.
  std::uint64_t lowest_undelivered() const {
    mutex_lock lock(mutex_);
    return lowest();
  }
  /// Returns the position of the input before the lowest input that is not delivered yet. Forgets the marks before it.
  mark place();

 private:
  void entered(ring_slot* s) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { order_.push_back(s); }
  void withdrawn(ring_slot*) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { order_.pop_back(); }
  void left(ring_slot* s) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    order_.erase(std::find(order_.begin(), order_.end(), s));
  }
  ring_slot* pick() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool exhausted() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Returns true while a choice is replayed and the pump has not yet taken the chosen input.
  bool beyond_limits() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return chosen_ != stream_base::kNone && next_ <= chosen_;
  }
  bool too_far_beyond() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::uint64_t lowest() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::vector<ring_slot*> order_ ABSL_GUARDED_BY(mutex_);  // the slots that are not handed on, oldest first
  std::vector<mark> marks_
      ABSL_GUARDED_BY(mutex_);  // oldest first; the first is at or before the lowest input that is not delivered
  std::uint64_t chosen_ ABSL_GUARDED_BY(mutex_) = stream_base::kNone;  // the choice being replayed
  std::uint64_t needed_ ABSL_GUARDED_BY(mutex_) = stream_base::kNone;  // the reader's request
};

}  // namespace sluice::lib
