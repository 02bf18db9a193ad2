// SPDX-License-Identifier: Apache-2.0
// Checks that the moves of files that a resumed run names (iterate_options::rebase) are those of its files.
#pragma once

#include <string>
#include <string_view>

#include "sluice/plan/node.hpp"
#include "sluice/runtime/input_rules.hpp"

namespace sluice::lib {

/// Refuses a move that changes nothing: no path of the plan is in its new folder; or the checkpoint's plan has read the
/// new paths already, and no earlier resume had this move. `inputs`: the checkpoint's table (runtime/seen_inputs.hpp).
/// `was_before`: the checkpoint is of the plan with the old paths. A plan without paths has paths in its data, which are
/// not checked.
/// Errors: failed_precondition, with the folder and a path of the plan; thrown.
void check_moves(const node& plan, const path_rebases& moves, std::string_view inputs, bool was_before);

/// Returns the end of a message about a checkpoint of another plan: a path of the plan as it was before the moves.
std::string path_before_moves(const node& plan, const path_rebases& moves);

}  // namespace sluice::lib
