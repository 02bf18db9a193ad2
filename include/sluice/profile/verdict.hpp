// SPDX-License-Identifier: Apache-2.0
// The verdict on a run: its consumer limits it, or one of its stages, and why.
//
//   run_report r = s.report();
//   print(r.verdict.text);     // "input-bound: the consumer waits 62 % of the time; map(decode) is always busy …"
//
// A wait of the consumer counts from 50 µs. If its waits are less than 5 % of the time, the run is consumer-bound:
// nothing is wrong. From 5 % on it is moderately input-bound, from 20 % on highly.
//
// The cause is the stage whose work takes all of the time: stages downstream of it wait for input, and stages upstream
// of it wait for room, so neither is the cause. If no stage works all the time, the cause is a limit that makes them
// wait for each other: a small channel, the memory budget, or the number of parallel calls.
// Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/coro/detail/consumer_meter.hpp"
#include "sluice/runtime/site_table.hpp"

namespace sluice::lib {

/// The waits of the consumer for its elements.
struct consumer_report {
  std::uint64_t requests = 0;  ///< estimated, if they are fast
  std::uint64_t waits = 0;     ///< requests of at least 50 µs
  duration waited{};           ///< their sum
  duration elapsed{};          ///< from the first request to the end of the last one
  duration median_wait{},
      long_wait{};  ///< half, and 99 %, of the requests took at most this time, within a factor of 2
  /// Waits of at least four times the mean.
  std::uint64_t stalls = 0;
  duration stall_took{};          ///< the median of the newest 64
  std::uint64_t stall_every = 0;  ///< the elements between two of them, in the median; 0: fewer than three stalls
  bool is_regular = false;        ///< most of these distances are within 25 % of the median
};

struct machine_use {
  unsigned workers = 1;  ///< the workers of the run, or its cpu_budget
  duration elapsed{};    ///< since the run was started
  duration computed{};   ///< CPU time of the process in that time; in a simulation, the time spent
};

enum class bound : std::uint8_t { unmeasured, consumer, input_moderately, input_highly };
std::string_view to_string(bound b);

enum class limit_cause : std::uint8_t {
  none,      ///< the consumer
  stage,     ///< the own work of a stage, or the calls that it awaits one after the other
  parallel,  ///< the number of blocks or calls of a stage that run at the same time
  disk,
  network,
  pace,       ///< the plan itself: rate_limit, sleep
  channel,    ///< a channel is too small for the bursts of its two sides
  memory,     ///< the memory budget
  workers,    ///< all cores are busy
  call_pool,  ///< the number of threads for blocking calls
};
std::string_view to_string(limit_cause c);

struct run_verdict {
  bound kind = bound::unmeasured;
  double wait_share = 0;  ///< the consumer's waits, as a share of its time
  limit_cause cause = limit_cause::none;
  std::uint64_t path = 0;          ///< the site of the cause; 0: none
  std::string stage;               ///< its name
  std::string text;                ///< one line, without the line's end
  std::vector<std::string> notes;  ///< stalls, and CPU time beyond the workers
};

consumer_report consumer_report_of(const consumer_meter& m);
/// Returns the verdict, and sets the shares of the sites' time.
run_verdict judge(std::vector<site_report>& sites, const consumer_report& c, const machine_use& m);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::bound;
using lib::consumer_report;
using lib::limit_cause;
using lib::run_verdict;

}  // namespace sluice
