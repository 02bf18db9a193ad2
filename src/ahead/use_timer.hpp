// SPDX-License-Identifier: Apache-2.0
// use_timer: measures from time to time how long the reader of a channel uses a block.
// Thread: the reader's.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/sites/cost_estimate.hpp"
#include "sluice/coro/environment.hpp"

namespace sluice::lib {

class use_timer {
 public:
  /// The reader gets a block of `elements`. The clock is read for one block of eight.
  template <class Clock> void begin(std::uint32_t elements, const Clock& clock) {
    if (blocks_++ % kTimedBlocks != 0) return;
    elements_ = elements;
    began_ = clock.now();
  }
  /// The reader wants the next block.
  template <class Clock> void end(cost_estimate& costs, const Clock& clock) {
    if (elements_ != 0) costs.learn_used(clock.now() - began_, std::exchange(elements_, 0));
  }

 private:
  static constexpr std::uint32_t kTimedBlocks = 8;
  std::uint32_t blocks_ = 0;
  std::uint32_t elements_ = 0;  // of the block that is timed; 0: none
  time_point began_{};
};

}  // namespace sluice::lib
