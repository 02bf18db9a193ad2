// SPDX-License-Identifier: Apache-2.0
// Checks of the arguments and the element type of cache().
#pragma once

#include <string>

#include "sluice/op/cache.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

inline bool may_spill(over_budget o) { return o == over_budget::spill || o == over_budget::spill_or_stop; }

/// The type of the elements of the cache `n`. Null: it is refused for the reason `why`.
const element_type* cached_type(const node& n, std::string& why);

}  // namespace sluice::lib
