// SPDX-License-Identifier: Apache-2.0
// admission: permission to fill one more slot of a channel. The bytes that the slot is expected to use are charged
// before the permission is given, and pass to the slot with it.
// Thread: guarded by the channel's mutex.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "ahead/channel_memory.hpp"

namespace sluice::lib {

class admission {
 public:
  using charge = channel_memory::charge;
  /// `memory` lives as long as the admission.
  explicit admission(const channel_memory& memory) : memory_(memory) {}
  admission(const admission&) = delete;
  admission& operator=(const admission&) = delete;
  ~admission() { memory_.credit(take()); }

  /// Returns true if a slot may be filled.
  bool is_granted() const { return is_granted_; }
  /// Charges as much of `expected` as the budget has, and grants.
  void grant_anyway(charge expected);
  /// Charges `expected` and grants if the budget has room. Otherwise `waiter` is called when bytes have been credited,
  /// once, however often this is called before.
  bool grant_if_it_fits(charge expected, const std::weak_ptr<room_waiter>& waiter);
  /// The ledger has called the waiter.
  void room_again() { waits_for_room_ = false; }
  /// Takes the permission. The caller must charge the bytes to a slot, or credit them.
  charge take() {
    is_granted_ = false;
    return std::exchange(charged_, charge());
  }

 private:
  // Guesses are added before bytes are charged, so that they never count as a peak.
  void begin_guess(const charge& expected);
  void end_guess(const charge& expected);

  const channel_memory& memory_;
  charge charged_;
  bool is_granted_ = false;
  bool waits_for_room_ = false;
};

}  // namespace sluice::lib
