// SPDX-License-Identifier: Apache-2.0
// Advice to a user about changes that no rule may make, because they change the elements, their order, or the files read.
// `sluice explain` prints it. Runs do not compute it.
#pragma once

#include <vector>

#include "sluice/optimizer/optimize.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Returns the advice for a plan as written, the most upstream stage first; each text once. Inner plans are not read.
/// `rule_note::rule` is the kind of advice: "shuffle_after_batch", "shuffle_after_repeat", "shard_late", "read_twice",
/// "one_at_a_time", "unknown_function", "frozen_draws".
std::vector<rule_note> advice_for(const node& plan);

}  // namespace sluice::lib
