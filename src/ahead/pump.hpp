// SPDX-License-Identifier: Apache-2.0
// The pump: a task that owns the stages upstream of a channel, requests blocks from them and fills the channel's slots.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ahead/pump_permits.hpp"
#include "ahead/slot_supply.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/task.hpp"

namespace sluice::lib {

/// The computation that a ring runs on one slot. Shared by its pump and readers.
class slot_computation {
 public:
  virtual ~slot_computation() = default;
  /// Fills slot->output from the round's inputs, and slot->why where an input failed under the default policy. Where
  /// the ring has no room for more outputs, it cuts the round short.
  virtual task<void> compute(slot_supply& ring, ring_slot* slot) const = 0;
  /// One element a slot: calls are awaited, and each is a unit of parallelism.
  virtual bool awaits() const = 0;
  /// The reader computes by itself, without a ring: the outputs of a block whose first input is the `first`th, in its own
  /// room or where the inputs were. An error goes to `why`: its input is the one behind the outputs.
  /// REQUIRES: !awaits(), and no element may be dropped.
  virtual block compute_here(outlet& out, block inputs, std::uint64_t first, status& why) const = 0;
};

/// Ranges of input ordinals, [first, first + count).
using ordinal_ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

struct pump_options {
  std::shared_ptr<const slot_computation> computation;  ///< null: inputs are outputs
  std::shared_ptr<pump_permits> permits;                ///< null: no limit
  bool may_drop = false;                                ///< the computation may drop bad elements
  bool one_each = false;                                ///< one element a slot, although nothing is awaited
  ordinal_ranges done;                                  ///< delivered before a resume: skipped
  ordinal_ranges replayed;  ///< will be asked for by ordinal: slots must not straddle their bounds
                            ///< (both in any order, and of a forged position anything)
};

/// Computes the slot's round on some worker, and commits it.
void start_computing(std::shared_ptr<slot_supply> ring, ring_slot* slot);

/// Starts pulling now, on the calling thread, until the ring is full.
void start_pump(std::shared_ptr<slot_supply> ring, erased_stream in, pump_options options);

}  // namespace sluice::lib
