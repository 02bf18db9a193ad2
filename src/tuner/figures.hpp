// SPDX-License-Identifier: Apache-2.0
// The measured figures of a run between two moments, for one element of each stage: what the tuner's model starts from.
//
// A stage's own time belongs to the task of its consumer, until a channel separates them; its calls run beside that
// task. `visits` is the number of elements that a stage makes for one element of the run: below 1 behind a batch, above
// it upstream of a filter or a batch. So `visits * own` are the seconds for one element of the run.
// Thread: none; these are values. Units: seconds, bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sluice/profile/verdict.hpp"

namespace sluice::lib {

/// A knob that the tuner may set.
struct tunable_knob {
  std::string name;
  std::int64_t value = 0;
  std::int64_t most = 0;      ///< of the tuner: a number in the plan, or what it tries at most
  bool is_requested = false;  ///< the number is in the plan
  std::int64_t floor = 1;     ///< a lower value has starved the consumer
  bool is_blocked = false;    ///< a step of it has not helped: it stays for a while
  std::int64_t least = 1;     ///< a lower value has made the run slower
  double spread = 0;  ///< the most by which calls have differed since the start of the run, as a share of their time
};

/// How the time of one call depends on the number of calls at the same time (Universal Scalability Law): n calls take
/// 1 + sigma (n - 1) + kappa n (n - 1) times the time of one.
inline constexpr double kNoLimit = 1e9;
struct scaling {
  double sigma = 0, kappa = 0;
  double useful = kNoLimit;  ///< more calls than this have not been faster
  double factor(double n) const { return n <= 1 ? 1 : 1 + (n - 1) * (sigma + kappa * n); }
};

struct stage_figures {
  std::uint64_t path = 0;
  std::string name;                 ///< with its number, if several stages have this name
  std::vector<std::size_t> inputs;  ///< their indexes; all but the first are the ends of inner plans, if it opens some
  bool opens_plans = false;         ///< it opens inner plans, and reads `parallelism` of them at once
  double visits = 1;
  double own = 0;  ///< of one element: computing in the task of its consumer
  double own_deviation =
      0;  ///< the standard deviation of it, of a stage without tasks; and the elements that were made
  double made = 0;
  /// Of one element of its first input: the time in which the task ahead was not waiting for room. 0: unknown.
  double pull = 0;
  double outside = 0;     ///< of one element: waiting for a disk, a network, the pace of the plan
  double call = 0;        ///< of one element: the call, or the computation, in a task beside the stage
  double deviation = 0;   ///< the standard deviation of it
  double longest = 0;     ///< the longest call; 0: unknown
  double slow_share = 0;  ///< the share of the calls that take about as long; 0: unknown
  double calls = 0;       ///< elements made by such tasks
  double running = 0;     ///< such tasks at the same time, in the mean
  double limited = -1;    ///< share of the time in which all that its parallelism allows were in use; -1: unknown
  /// Share of the time in which its reader waits for it while its channel is full: of finished elements behind a slow one,
  /// or at the times of other bursts.
  double starved = 0;
  bool awaits = false;  ///< they wait, and use no worker
  bool works_ahead = false;
  bool is_light = false;       ///< its channel is not in use, because moving blocks costs more than making them
  double bytes = 0;            ///< memory of one element
  double block_elements = 1;   ///< elements of one block of its channel
  double reads = 0, read = 0;  ///< reads of files for one element, and the time of one
  double reading = 0;          ///< reads in flight, in the mean
  double read_wait = 0;        ///< share of the time in which the stage waits for a file
  double read_alone = 0;       ///< the time of one with the fewest that were in flight; 0: unknown
  double reads_useful = 1e9;   ///< more reads at the same time than this have not been faster
  scaling scales = {};
  double fewest = kNoLimit;  ///< the least number of its calls at the same time that was measured with a setting
  std::vector<tunable_knob> knobs = {};
};

struct figures {
  std::vector<stage_figures> stages;  ///< the last stage of the plan first, each before its inputs
  double seconds = 0;                 ///< between the two moments
  double elements = 0;                ///< that the consumer has taken meanwhile
  double consumer = 0;                ///< the consumer's own time for one of them
  double consumer_samples = 0;        ///< its requests that were timed
  double wait_share = 0;              ///< of the time in which the consumer waited
  double stall = 0;                   ///< the time of one of its regular, long waits; 0: there are none
  double cpu = 0;                     ///< CPU time for one of them, as measured; 0: unknown
};

/// The counters of a run at one moment.
struct observation {
  duration at{};
  std::vector<site_report> sites;
  consumer_report consumer;
  duration computed{};  ///< CPU time since the run's beginning
};

/// The figures between two observations. Knobs are not filled in.
figures figures_between(const observation& before, const observation& after);

}  // namespace sluice::lib
