// SPDX-License-Identifier: Apache-2.0
// What it costs on this machine to give work to another core: the hand-over itself, and the cache lines that move with it.
#pragma once

#include <chrono>
#include <cstddef>

namespace sluice::lib {

struct moving_cost {
  double hand_over_ns = 10'000;  ///< to wake a worker that sleeps, or to wait for one that spins
  /// Half of what it takes to fetch what another core wrote last, beyond reading it where it was written: meanwhile the other
  /// core works.
  double byte_ns = 0.05;

  std::chrono::nanoseconds of(std::size_t bytes) const {
    return std::chrono::nanoseconds(static_cast<long>(hand_over_ns + byte_ns * static_cast<double>(bytes)));
  }
};

/// Measured when it is first asked for, in about 0.3 ms, with a second thread. Where the machine is too busy for a
/// measurement (the threads do not get to run at the same time), the figures above. Thread: any.
const moving_cost& machine_moving_cost();

}  // namespace sluice::lib
