// SPDX-License-Identifier: Apache-2.0
// The cost of giving work to another core of this machine: the hand-over itself, and the cache lines that move with it.
#pragma once

#include <chrono>
#include <cstddef>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

struct moving_cost {
  double hand_over_ns = 10'000;  ///< to wake a sleeping worker, or to wait for one that spins
  /// Half of the additional time to fetch data that another core wrote last, compared with reading it where it was
  /// written. The other half is saved, because the other core works meanwhile.
  double byte_ns = 0.05;
  /// The additional time to allocate and free the memory of one element on different cores. It depends on the allocator:
  /// 30 to 70 ns with glibc's, 10 to 15 ns with mimalloc.
  double owner_ns = 100;

  std::chrono::nanoseconds of(const moved_data& moved) const {
    return std::chrono::nanoseconds(static_cast<long>(hand_over_ns + byte_ns * static_cast<double>(moved.bytes) +
                                                      owner_ns * static_cast<double>(moved.owners)));
  }
};

/// Measures the cost on the first call, in about 0.5 ms, with a second thread. If the machine is too busy for a
/// measurement (the threads do not run at the same time), returns the figures above. Thread: any.
const moving_cost& machine_moving_cost();

}  // namespace sluice::lib
