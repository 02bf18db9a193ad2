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
  /// Fills slot->output from the round's inputs, and slot->why if an input failed under the default policy. If the ring
  /// has no room for more outputs, it cuts the round short.
  virtual task<void> compute(slot_supply& ring, ring_slot* slot) const = 0;
  /// Returns true if calls are awaited. Then each slot has one element, and each call is a unit of parallelism.
  virtual bool awaits() const = 0;
  /// Computes on the reader, without a ring: the outputs of a block whose first input has the ordinal `first`, in the
  /// outlet's memory or in place of the inputs. Stores an error in `why`: it belongs to the input after the outputs.
  /// REQUIRES: !awaits(), and no element may be dropped.
  virtual block compute_here(outlet& out, block inputs, std::uint64_t first, status& why) const = 0;
  /// The most inputs for one call of compute_here; 0: as many as have outputs of the demanded size.
  virtual std::uint32_t most_here() const { return 0; }
};

/// Ranges of input ordinals, [first, first + count).
using ordinal_ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

struct pump_options {
  std::shared_ptr<const slot_computation> computation;  ///< null: inputs are outputs
  std::shared_ptr<pump_permits> permits;                ///< null: no limit
  bool may_drop = false;                                ///< the computation may drop bad elements
  bool one_each = false;                                ///< one element per slot, although no call is awaited
  ordinal_ranges done;                                  ///< delivered before a resume: skipped
  ordinal_ranges replayed;  ///< will be requested by ordinal: slots must not straddle their bounds
                            ///< (both in any order; a forged position may contain anything)
};

/// Computes the slot's round on some worker, and commits it.
void start_computing(std::shared_ptr<slot_supply> ring, ring_slot* slot);

/// Starts pulling now, on the calling thread, until the ring is full.
void start_pump(std::shared_ptr<slot_supply> ring, erased_stream in, pump_options options);

}  // namespace sluice::lib
