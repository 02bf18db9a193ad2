// SPDX-License-Identifier: Apache-2.0
// Prints the work of each stage of a run as a table: `sluice run --stages` and `sluice run --report`.
#pragma once

#include <string>
#include <vector>

#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib::cli {

/// Returns a line for each stage, the last stage of the plan first; stages of inner plans and of a combine's inputs are
/// indented. Stages with the same name are numbered. Empty columns are omitted.
std::string stage_table(const std::vector<site_report>& sites);

/// Returns the verdict in the first line, then its notes, and a line for each stage with its shares of the run's time: it
/// computes, waits for its input, or waits for its consumer. The cause is marked with an asterisk.
std::string profile_text(const run_report& report);

/// Returns a line for each knob that the tuner may set, with its value and the reason, and a line with what changes would
/// gain; empty if the run has no tuner or no knob.
std::string tuning_text(const tuning_report& tuning);

}  // namespace sluice::lib::cli
