// SPDX-License-Identifier: Apache-2.0
// with_options: says for all stages upstream what a bad element does, and whether they have to keep the order.
//
//   files | map(parse, {.parallelism = 4}) | with_options({.on_error = error_policy::skip, .order = sloppy}) | batch(64)
//
// It makes no stage, so it costs nothing. Of several in one chain the outermost decides, for each option that it gives.
//   on_error   as an ignore_errors there; what a stage says itself, and an ignore_errors upstream, comes first. on_error=stop is
//              for plans that are run with skip
//   order      sloppy: every map, parse and interleave upstream is sloppy, and works ahead, also with parallelism 1. A stage that
//              says sloppy itself is so under order=deterministic, too
// Stages of inner plans are upstream, too, but keep their own order. For those downstream the options of the run hold
// (iterate_options). Workers and the memory budget are the runtime's (runtime_options).
// Shape:  the input's.
// Order:  as the input's, or as the options say.
// Ends:   with the input.
// Errors: invalid_argument when the plan is made: errors_max without on_error=skip; no option at all.
// State:  none. Options are part of the plan: a checkpoint fits a plan with the same.
// See:    ignore_errors, which is on_error=skip alone; on_error (plan/on_error.hpp) for single stages.
#pragma once

#include "sluice/engine/dataset_options.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info with_options_op;

struct with_options_arguments {
  dataset_options options = {};
};

preserving with_options(dataset_options o);

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::with_options;

}  // namespace sluice
