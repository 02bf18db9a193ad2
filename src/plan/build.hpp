// SPDX-License-Identifier: Apache-2.0
// Calls, as text or JSON has them, to nodes: operators, functions and fields are looked up. The one place where that is done.
#pragma once

#include "plan/argument.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::detail {

// Errors: both throw misplaced.

/// `may_lack_path`: sources may lack what comes later, which makes the plan a reader.
node_ptr build_plan(const plan_syntax& calls, bool may_lack_path);
/// An argument that is a plan: a word or a plan in text, an object in JSON. A plan in JSON may always lack its path unless
/// told otherwise here.
node_ptr build_plan(const argument& a, bool may_lack_path);

}  // namespace sluice::lib::detail
