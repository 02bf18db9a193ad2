// SPDX-License-Identifier: Apache-2.0
// Whether bad elements may be dropped by what a plan itself says: its elements then have other numbers than their inputs, and there
// may be fewer than any size says. What the run says for all stages is not asked.
#pragma once

#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Does a stage of the plan, or of the plans inside of it, drop bad elements (on_error=skip, ignore_errors, with_options)?
bool drops_errors(const node& plan);

}  // namespace sluice::lib
