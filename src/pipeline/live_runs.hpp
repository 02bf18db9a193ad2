// SPDX-License-Identifier: Apache-2.0
// The runs of the process that exist now, so that a report can look at all runs of a runtime (pipeline/metrics.hpp).
// Thread: any.
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib {

/// A member of each run, declared last: the run is complete as long as it is in the list.
class live_run {
 public:
  live_run(const runtime& home, const run_base& run);
  live_run(const live_run&) = delete;
  /// Waits until no report looks at the run.
  ~live_run();

 private:
  const run_base& run_;
};

struct numbered_report {
  std::uint64_t number = 0;  ///< of the run within the process, from 1, in the order of their starts
  run_report report;
};
/// The reports of the runs of `home` that exist now.
std::vector<numbered_report> reports_of_live_runs(const runtime& home);

}  // namespace sluice::lib
