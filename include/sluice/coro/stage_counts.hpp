// SPDX-License-Identifier: Apache-2.0
// Counters of one stage of the plan, for profilers and tuners.
//
// All streams of that stage within a run share one object, including the streams of a repeat's epochs and of inner
// plans. A stream counts in its own plain members, and adds them here when it looks at the clock (every 64 blocks or
// 500 µs), when it ends and when it is destroyed. The counters lag behind by that much.
//
// Busy time is sampled. The most downstream stream of a tree (the root of a run, the stream that a pump requests from)
// times one block in 32 to 256 on its whole way through the stages upstream. Each of these stages adds the time that
// its own coroutine took, without its inputs and without waiting. Waits and the work of parallel tasks are not sampled:
// all of them are counted.
//   double ns_each = double(c.sampled_ns.load()) / double(c.sampled_elements.load());          // without its inputs
//   double busy_ns = ns_each * double(c.elements.load() + c.passed.load());                    // an estimate
//
// Cost:   under 0.01 ns per element in blocks of 256; some nanoseconds per block.
// Thread: any. The counters are relaxed atomics: each is exact, but they are not consistent with each other at one
//         moment.
// See:    runtime/site_table.hpp, which reports them.
#pragma once

#include <atomic>
#include <cstdint>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

struct stage_counts {
  using number = std::atomic<std::uint64_t>;

  number elements{0};  ///< delivered
  number passed{0};    ///< skipped, because the consumer's demand said so (the operator skip, a resume)
  number blocks{0};    ///< in which the elements were delivered

  number sampled_elements{0};  ///< elements of the timed blocks, including the skipped ones
  number sampled_ns{0};        ///< the time spent making the sampled elements
  number sampled_bytes{0};     ///< the memory of the sampled elements that were delivered
  number computed_ns{0};       ///< time of the stage's tasks (the calls of a parallel map); not sampled

  number waits{0};           ///< how often the stage waited for a channel, a file or a timer
  number waited_ns{0};       ///< how long these waits took
  number room_waits{0};      ///< how often its pump waited because the channel or the memory budget was full
  number room_waited_ns{0};  ///< how long these waits took
  number read_bytes{0};      ///< read from files, before inflating

  /// Relaxed: a counter publishes no other data.
  static void add(number& to, std::uint64_t n) noexcept {
    if (n) to.fetch_add(n, std::memory_order_relaxed);
  }
  static void add(number& times, number& ns, duration took) noexcept {
    times.fetch_add(1, std::memory_order_relaxed);
    add(ns, static_cast<std::uint64_t>(took.count()));
  }
};

}  // namespace sluice::lib
