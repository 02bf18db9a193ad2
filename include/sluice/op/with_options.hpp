// SPDX-License-Identifier: Apache-2.0
// with_options: sets for all stages upstream how bad elements are treated, and whether they must keep the order.
//
//   files | map(parse, {.parallelism = 4}) | with_options({.on_error = error_policy::skip, .order = sloppy}) | batch(64)
//
// It adds no stage, so it costs nothing. If several are in one chain, the outermost determines each option that it
// gives.
//   on_error   acts as an ignore_errors in its place; a stage's own on_error, and an ignore_errors upstream, have
//              precedence. on_error=stop is for plans that are run with skip
//   order      sloppy: every map, parse and interleave upstream is sloppy, and works ahead, also with parallelism 1. A stage that
//              is sloppy by its own option stays sloppy under order=deterministic
//   optimize   false: no rule rewrites the stages upstream (docs/optimizer.md)
//   rules      "NAME=off": that rule does not; "NAME=on": it does, if it is one that must be chosen
//   trust      true: rules need not keep a check of values that nothing downstream reads (prune_columns)
// Stages of inner plans are also upstream, but keep their own order. Options of the whole run:
//   cpu_budget, warm_start, statistics, external_state   as in iterate_options, which decide first (docs/options.md)
// The number of workers and the memory budget belong to the runtime (runtime_options).
// Shape:  the input's.
// Order:  as the input's, or as the options say.
// Ends:   with the input.
// Errors: invalid_argument when the plan is built: errors_max without on_error=skip, or no option at all.
// State:  none. Options are part of the plan: a checkpoint fits only a plan with the same options.
// See:    ignore_errors, which is on_error=skip alone; on_error (plan/on_error.hpp) for single stages.
#pragma once

#include "sluice/engine/dataset_options.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info with_options_op;

struct with_options_arguments {
  dataset_options options = {};
};

preserving with_options(dataset_options o);
SLUICE_OPTIONS_IN_BRACES_AFTER(preserving, with_options, dataset_options, "with_options({.optimize = false})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::with_options;

}  // namespace sluice
