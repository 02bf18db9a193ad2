// SPDX-License-Identifier: Apache-2.0
// The input of a stage that keeps its elements for later epochs and runs (cache, snapshot): it yields the elements of the
// first epoch in every epoch.
#pragma once

#include "engine/lowering/open_context.hpp"
#include "sluice/plan/node.hpp"
#include "store/cache_table.hpp"

namespace sluice::lib {

/// Returns true if `is` holds for the node, or for a node upstream of it.
bool is_or_has_upstream(const node& n, bool (*is)(const node&));
/// Returns the context of the input, whose elements are those of the first epoch in every epoch.
open_context of_first_epoch(const open_context& context);
/// Returns what determines the elements of the input.
cache_key key_of_input(const node& input, const open_context& context);

}  // namespace sluice::lib
