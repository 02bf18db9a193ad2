// SPDX-License-Identifier: Apache-2.0
// Advice that needs the figures of a run: what to write differently, and what that gains. `sluice run --report` prints it
// after the verdict. Advice without figures: optimizer/advice.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sluice/plan/node.hpp"
#include "sluice/profile/verdict.hpp"

namespace sluice::lib {

/// A run that has ended.
struct measured_run {
  const std::vector<site_report>& sites;
  const run_verdict& verdict;
  machine_use machine;
  bool is_whole = false;  ///< from the start of the plan to its end
};

struct measured_note {
  std::string_view kind;
  std::string text;  ///< one line, without the line's end
};

/// Returns the advice for a plan as written, whose run gave these figures. The kinds:
///   "source_limit"  one file is read at a time, and that limits the run: the time for an element with several files
///   "cache"         each epoch of a repeat computes the same elements: their bytes, and the time that a cache would save
///   "shrink"        a map makes the elements of the buffer before it smaller, which their types do not show: the memory that
///                   the buffer would need after the map
///   "vectorize"     a function is called for each element, and does little more than that: the calls for batches
std::vector<measured_note> measured_advice(const node& plan, const measured_run& run);

}  // namespace sluice::lib
