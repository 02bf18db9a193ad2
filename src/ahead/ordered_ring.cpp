// SPDX-License-Identifier: Apache-2.0
#include "ahead/ordered_ring.hpp"

namespace sluice::lib {

void ordered_ring::left(ring_slot*) {
  if (++head_ != order_.size() && head_ != 64) return;
  // Removes the used front of the queue from time to time.
  order_.erase(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(head_));
  head_ = 0;
}

void ordered_ring::hand_on(ring_slot* s, std::uint32_t outputs, bool last) {
  if (last) charge_handed_on(s);
  mutex_lock lock(mutex_);
  hand_on_locked(s, outputs, last);
}

bool ordered_ring::ready() const {
  mutex_lock lock(mutex_);
  return pick() || stopped_ || (over_ && in_flight_ == 0);
}

}  // namespace sluice::lib
