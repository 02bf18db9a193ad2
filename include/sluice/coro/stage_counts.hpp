// SPDX-License-Identifier: Apache-2.0
// Counters of one stage of the plan: what a profiler shows, and what a tuner bases its decisions on.
//
// All streams of that stage within a run share one object: those of a repeat's epochs, and those of inner plans. A
// stream counts in plain members of its own, and adds them here when it looks at the clock (every 64 blocks or 500 µs),
// when it ends and when it is destroyed; so the counters lag behind by that much.
//
// Busy time is sampled. The stream at the top of a tree (the root of a run, the one that a pump requests from) times
// one block in 32 to 256 on its whole way through the stages upstream; each of these adds the time that its own
// coroutine took, without its inputs and without waiting. Waits and the work of parallel tasks are not sampled but all
// counted.
//   double ns_each = double(c.sampled_ns.load()) / double(c.sampled_elements.load());          // without its inputs
//   double busy_ns = ns_each * double(c.elements.load() + c.passed.load());                    // an estimate
//
// Cost:   under 0.01 ns an element in blocks of 256; some nanoseconds a block.
// Thread: any; the counters are relaxed atomics, each exact by itself but not consistent with the others at one moment.
// See:    runtime/site_table.hpp, which reports them.
#pragma once

#include <atomic>
#include <cstdint>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

struct stage_counts {
  using number = std::atomic<std::uint64_t>;

  number elements{0};  ///< delivered
  number passed{0};    ///< passed over, because the consumer's demand said so (the operator skip, a resume)
  number blocks{0};    ///< in which the elements were delivered

  number sampled_elements{0};  ///< elements of the timed blocks, including those passed over for them
  number sampled_ns{0};        ///< the time it took to make the sampled elements
  number sampled_bytes{0};     ///< the memory of the sampled elements that were delivered
  number computed_ns{0};       ///< time of the stage's tasks (the calls of a parallel map); not sampled

  number waits{0};           ///< how often the stage waited for a channel, a file or a timer,
  number waited_ns{0};       ///< and for how long
  number room_waits{0};      ///< how often its pump waited because the channel or the memory budget was full,
  number room_waited_ns{0};  ///< and for how long
  number read_bytes{0};      ///< read from files, before inflating

  /// Relaxed: no other data is published by a counter.
  static void add(number& to, std::uint64_t n) noexcept {
    if (n) to.fetch_add(n, std::memory_order_relaxed);
  }
  static void add(number& times, number& ns, duration took) noexcept {
    times.fetch_add(1, std::memory_order_relaxed);
    add(ns, static_cast<std::uint64_t>(took.count()));
  }
};

}  // namespace sluice::lib
