// SPDX-License-Identifier: Apache-2.0
// The options of a plan and of its run that contradict each other, for `sluice explain`.
#pragma once

#include <string>
#include <vector>

#include "cli/inputs/reading.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {

/// Returns a line for each option that is set to different values in two places of the chain, or in the chain and on the
/// command line: "order: with_options(order=sloppy) decides, and not with_options(order=deterministic) upstream of it".
std::vector<std::string> option_notes(const node& plan, const optimizer_arguments& given);

}  // namespace sluice::lib::cli
