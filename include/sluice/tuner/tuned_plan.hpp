// SPDX-License-Identifier: Apache-2.0
// A plan with the values that a tuner has chosen: the start of a later run, or its limits.
//
//   run_report r = s.report();
//   node_ptr pinned = tuned_plan(ds.plan(), r.tuning);            // map(decode, parallelism=6) instead of autotune
//   std::string text = plan_text(*pinned);
//
// Knobs are no part of fingerprints, so checkpoints fit both plans. A run of the new plan with a tuner may use less.
// Knobs of inner plans, and of stages that rules have inserted, keep what they have.
// Thread: any.
#pragma once

#include "sluice/plan/node.hpp"
#include "sluice/tuner/tuning.hpp"

namespace sluice::lib {

/// `plan`: the plan as written, whose run has `chosen` these values.
node_ptr tuned_plan(const node_ptr& plan, const tuning_report& chosen);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::tuned_plan;

}  // namespace sluice
