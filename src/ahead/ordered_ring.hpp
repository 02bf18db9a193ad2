// SPDX-License-Identifier: Apache-2.0
// A channel between two stages whose reader gets the slots in the order in which the pump has filled them. The mark
// that is recorded before a slot is filled is kept in that slot.
#pragma once

#include <memory>
#include <vector>

#include "ahead/slot_supply.hpp"

namespace sluice::lib {

class ordered_ring final : public slot_supply {
 public:
  ordered_ring(std::shared_ptr<run_context> run, channel_memory memory, const element_type& in, const element_type& out,
               limits l)
      : slot_supply(std::move(run), std::move(memory), in, out, l) {}

  void note(ring_slot* s, mark m) override { s->taken.emplace(std::move(m)); }

  /// Returns the oldest slot; null at the end, and then why() has the reason. `done`: the slot received before, if the
  /// consumer has finished with it (null: none). The call frees it; or, if only some of its inputs were computed,
  /// returns it again with the outputs of the rest.
  receive_awaiter receive(ring_slot* done) { return {*this, done}; }
  /// The consumer is about to get `outputs` more of the slot, so the same number of new ones may be computed: a channel
  /// of one element already works on the second element while the consumer works on the first. The last outputs belong
  /// to the consumer, and are no longer charged: an interleave moves them out and returns to this channel much later.
  void hand_on(ring_slot* s, std::uint32_t outputs, bool last);
  /// Returns true if receive() would return a slot now.
  bool ready() const;

 private:
  void entered(ring_slot* s) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { order_.push_back(s); }
  void withdrawn(ring_slot*) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { order_.pop_back(); }
  void left(ring_slot*) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  ring_slot* pick() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return head_ != order_.size() && order_[head_]->at == ring_slot::state::done ? order_[head_] : nullptr;
  }

  std::vector<ring_slot*> order_ ABSL_GUARDED_BY(mutex_);  // a queue from head_ on
  std::size_t head_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice::lib
