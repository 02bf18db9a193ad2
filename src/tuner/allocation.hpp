// SPDX-License-Identifier: Apache-2.0
// The tuner's model: from figures and budgets to a value for each knob, with a reason, in one step. A pure function.
//
//   allocation a = allocate(figures_between(before, after), {.workers = 4});
//   a.settings[0].reason       // "15 of at most 64 calls in flight: 100 ms each, the consumer takes one per 20 ms"
//
// Model (docs/tuning.md has the formulas and their sources):
//   - the run's rate is the least of: its consumer's, that of each task (the stages between two channels run one after
//     the other), that of each stage's calls, and that of all workers;
//   - the target is the rate that the run has if every knob is at its limit: no knob needs more than that rate;
//   - calls that wait: Little's law, rate times time; tasks that compute: the same, at a utilization of 0.8;
//   - buffers: what the consumer takes during one of its regular stalls.
// Thread: none; all values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sluice/tuner/tuning.hpp"
#include "tuner/figures.hpp"

namespace sluice::lib {

struct budgets {
  unsigned workers = 1;     ///< or the cpu_budget
  double memory_bytes = 0;  ///< of the ledger; 0: no limit
};

/// The tuner tries this number of waiting calls at most, unless twice the number of workers is more.
inline constexpr std::int64_t kCallsTried = 64;
/// The utilization of workers that it aims at.
inline constexpr double kUtilization = 0.8;

struct knob_value {
  std::uint64_t path = 0;
  std::string stage, knob;
  std::int64_t value = 0;
  std::int64_t was = 0;
  std::int64_t most = 0;
  bool is_requested = false;
  bool is_starved = false;  ///< raised because the consumer has waited for it, although the rates allow less
  bool is_reads = false;    ///< a larger number of reads in flight, which is tried
  bool is_fewer = false;    ///< a smaller number of calls, which is tried, because it may be as fast
  std::string reason;
};

struct allocation {
  std::vector<knob_value> settings;  ///< of all knobs that may be set, changed or not
  double rate = 0;                   ///< elements of the run per second with them; 0: nothing limits it
  double rate_now = 0;               ///< the same with the present values
  std::string limit;                 ///< "the consumer takes one per 20 ms"
};

allocation allocate(const figures& f, const budgets& b);

/// What the stages that take the most time, and one more core, could gain: the largest gain first.
std::vector<what_if> try_changes(const figures& f, const budgets& b);

/// One setting that a stage has had: the number of its calls at the same time, the time of each, its standard deviation, and
/// the number of calls that were measured (0: exact).
struct scaling_point {
  double running = 0, call = 0, deviation = 0, calls = 0;
};
/// Fits the law to settings of at least two different numbers of calls. Times that may be equal, because calls differ and few
/// were measured, show no law.
scaling fit_scaling(const std::vector<scaling_point>& points);

/// The settings of a reader's reads in flight: the time of a read with the fewest of them, and the number that is enough for the
/// most reads per second that were measured, and a tenth more.
struct read_scaling {
  double alone = 0;          ///< 0: unknown
  double useful = kNoLimit;  ///< more have not been faster
};
read_scaling fit_reads(const std::vector<scaling_point>& points);

}  // namespace sluice::lib
