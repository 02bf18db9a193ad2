// SPDX-License-Identifier: Apache-2.0
// Finds plans that may drop bad elements by their own arguments. The elements of such a plan have other numbers than
// their inputs, and there may be fewer of them than its size. Options of the run, which apply to all stages, are not
// considered.
#pragma once

#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Returns true if a stage of the plan, or of a plan inside it, drops bad elements (on_error=skip, ignore_errors,
/// with_options).
bool drops_errors(const node& plan);

}  // namespace sluice::lib
