// SPDX-License-Identifier: Apache-2.0
// The options that the with_options calls of a plan set together.
#pragma once

#include "sluice/engine/dataset_options.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Returns the options of all calls in the chain of `plan`. If several set one option, the most downstream decides.
dataset_options options_of(const node& plan);
/// Returns true if the chain of `plan` has such a call. Costs less than options_of().
bool has_options(const node& plan);

}  // namespace sluice::lib
