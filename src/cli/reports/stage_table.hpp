// SPDX-License-Identifier: Apache-2.0
// Prints the work of each stage of a run as a table: `sluice run --stages`.
#pragma once

#include <string>
#include <vector>

#include "sluice/runtime/site_table.hpp"

namespace sluice::lib::cli {

/// Returns a line for each stage, the last stage of the plan first; stages of inner plans and of a combine's inputs are
/// indented. Stages with the same name are numbered. Empty columns are omitted.
std::string stage_table(const std::vector<site_report>& sites);

}  // namespace sluice::lib::cli
