// SPDX-License-Identifier: Apache-2.0
// A checkpoint in words, for `sluice checkpoint show` and `diff`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Returns a line for each property of a checkpoint file, or of the bytes of a checkpoint. `plan`: its plan, for the names of
/// stages and files; null: they are shown as numbers.
/// Errors: throws data_loss: it is no checkpoint, or damaged; failed_precondition: it is of another plan, or version.
std::vector<std::string> lines_of_checkpoint(std::string_view file, const node_ptr& plan);

}  // namespace sluice::lib
