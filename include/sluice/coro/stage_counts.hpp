// SPDX-License-Identifier: Apache-2.0
// What the streams of one stage have done so far: what a profiler shows and a tuner decides by.
//
// A stream counts for itself, and adds up here every 64 blocks, when it ends and when it is dropped. Time is sampled: the root
// of a run, and whatever works ahead below a channel, has one block in 32 to 256 timed on its whole way through the stages
// below, and each of them adds what it took itself, without its inputs and without waiting. Waits are all counted.
// Cost:   under 0.01 ns an element in blocks of 256; some nanoseconds for a block.
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

struct stage_counts {
  using number = std::atomic<std::uint64_t>;

  number elements{0};  ///< handed over
  number passed{0};    ///< passed over, because the consumer asked for it (skip, a resume)
  number blocks{0};    ///< that the elements were handed over in

  number sampled_elements{0};  ///< of these, and of those passed over with them,
  number sampled_ns{0};        ///< the time it took to make them,
  number sampled_bytes{0};     ///< and what the ones handed over took in memory
  number computed_ns{0};       ///< by its tasks, all of them: a parallel map's calls

  number waits{0};  ///< for something that was not there: a channel, a file
  number waited_ns{0};
  number room_waits{0};  ///< of what works ahead of it: its channel was full, or the budget
  number room_waited_ns{0};
  number read_bytes{0};  ///< from files, as they are stored

  static void add(number& to, std::uint64_t n) noexcept {
    if (n) to.fetch_add(n, std::memory_order_relaxed);
  }
  static void add(number& times, number& ns, duration took) noexcept {
    times.fetch_add(1, std::memory_order_relaxed);
    add(ns, static_cast<std::uint64_t>(took.count()));
  }
};

}  // namespace sluice::lib
