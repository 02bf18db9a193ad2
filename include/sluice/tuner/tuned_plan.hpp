// SPDX-License-Identifier: Apache-2.0
// A plan with the values that a tuner has chosen: the start of a later run, or its limits.
//
//   run_report r = s.report();
//   node_ptr pinned = tuned_plan(ds.plan(), r.tuning, r.sites);   // map(decode, parallelism=6) instead of autotune
//   std::string text = plan_text(*pinned);
//
// A map directly after a shuffle or a prefetch whose results had at most half of the memory of its elements also states both
// sizes: map(small, measured_bytes=[65536, 1024]). The rule shrink_before_buffers then moves it upstream of the buffer, if that
// is exact.
// Knobs and measured sizes are no part of fingerprints, so checkpoints fit both plans. A run of the new plan with a tuner may use less.
// Knobs of inner plans, and of stages that rules have inserted, keep what they have.
// Thread: any.
#pragma once

#include <span>

#include "sluice/plan/node.hpp"
#include "sluice/runtime/site_table.hpp"
#include "sluice/tuner/tuning.hpp"

namespace sluice::lib {

/// `plan`: the plan as written, whose run has `chosen` these values. `measured`: the stages of that run; without them the plan
/// states no sizes that it did not state before.
node_ptr tuned_plan(const node_ptr& plan, const tuning_report& chosen, std::span<const site_report> measured = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::tuned_plan;

}  // namespace sluice
