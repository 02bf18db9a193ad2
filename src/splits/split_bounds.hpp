// SPDX-License-Identifier: Apache-2.0
// The bounds of a split: the numbers and the list of names by which its plan differs from those of other splits. Rules
// leave them apart from the other stages, so the optimized form of one split becomes that of another one.
//
//   shape_of_bounds(*plan)                           // "skip take": splits of this shape have forms that differ in bounds
//   node_ptr form = optimized_plan(first, options);
//   node_ptr other = with_bounds_of(form, *second);  // the form of `second`. REQUIRES: the same shape and part
//
// Thread: any.
#pragma once

#include <string>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Marks a node that has bounds (node_history::is_split_bound).
node_ptr as_split_bound(const node_ptr& n);
/// The operators of the bounds, with what rules read of them.
std::string shape_of_bounds(const node& plan);
/// Returns a copy of `form` with the bounds of `split`.
node_ptr with_bounds_of(const node_ptr& form, const node& split);

}  // namespace sluice::lib
