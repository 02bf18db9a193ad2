// SPDX-License-Identifier: Apache-2.0
// The values that the tuner of a run has chosen for its knobs, from measured rates, and the reasons (docs/tuning.md).
//
//   auto s = ds.iterate(rt, {.tune = true});
//   …
//   for (const knob_choice& c : s.report().tuning.knobs) print(c.stage, c.knob, c.value, c.reason);
//
// Thread: none; these are values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::lib {

/// A knob and the value that the tuner has chosen for it.
struct knob_choice {
  std::uint64_t path = 0;  ///< site_report::path of its stage
  std::string stage;       ///< "map(decode)", or "map(decode) #2" if several stages have this name
  std::string knob;        ///< "parallelism"
  std::int64_t value = 0;
  std::int64_t began = 0;     ///< its value when the run began
  std::int64_t most = 0;      ///< the tuner does not set it higher: the number in the plan, if the plan has one
  bool is_requested = false;  ///< `most` is a number in the plan
  std::string reason;         ///< "15 of at most 64 calls in flight: 100 ms each, the consumer takes one per 20 ms"
};

/// A change that the run could be given, and what it would gain according to the tuner's model.
struct what_if {
  std::string change;      ///< "map(decode) twice as fast", "one more core"
  std::uint64_t path = 0;  ///< the site of the stage; 0: the change is of another kind
  double gain = 0;         ///< 0.38: 38 % more elements per second
};

struct tuning_report {
  bool is_on = false;
  std::uint64_t looks = 0;     ///< how often the tuner has looked at the counters
  std::uint64_t steps = 0;     ///< how often it has set knobs
  std::uint64_t changes = 0;   ///< changes of the costs of a stage, or of the consumer, that made it measure again
  double elements_second = 0;  ///< the rate that the model expects with the chosen values; 0: unknown
  double error_median = 0;     ///< |measured rate / expected rate - 1| after steps, in the median; 0: no step
  std::string limit;           ///< what limits that rate: "the consumer takes one per 20 ms"
  std::string why_none;        ///< why the tuner sets no knob of this plan; empty: it may
  std::vector<knob_choice> knobs;
  std::vector<what_if> what_ifs;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::knob_choice;
using lib::tuning_report;
using lib::what_if;

}  // namespace sluice
