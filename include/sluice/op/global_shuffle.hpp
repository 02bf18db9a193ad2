// SPDX-License-Identifier: Apache-2.0
// global_shuffle: all elements of an input that can seek, in a random order, without a buffer.
//
//   range(1'000'000'000) | global_shuffle({.seed = 7}) | map(f) | batch(64)
//   numbers | batch(2) | global_shuffle()
//
// The place of each element is computed from the seed and its number: a permutation of all n numbers
// (base/index_permutation.hpp). For small n all orders are equally likely; for larger n the order looks like noise.
// The elements are then requested by their numbers. The elements of one request are requested in ascending order, so
// that neighbors are read together: the input is opened once for each request. Stages upstream do not work ahead, even
// with prefetch and parallelism, so put slow maps after this stage.
// Shape:  T, as many elements as the input has.
// Order:  a function of the seed, the same on any number of workers and after any resume; different in each epoch of a
//         repeat.
// Ends:   after all elements.
// Errors: invalid_argument, when the plan is built: the input's number of elements is not known, or the input never
//         ends; or a stage of the input cannot make element i without making those before it (or drops bad elements);
//         the message names the first such stage. out_of_range, in a run: the input ended before the number of elements
//         that its plan states. An error of an element is an error of this stage: under error_policy::skip the element
//         is dropped and counted.
// Owns:   the elements of one request.
// State:  the number of elements delivered. A resume or a `skip` costs as much as one element.
#pragma once

#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info global_shuffle_op;

struct global_shuffle_options {
  sluice::lib::seed seed = {};           ///< -1: from the run's seed and the site
  bool reshuffle_each_iteration = true;  ///< another order in each epoch of a repeat
};
struct global_shuffle_arguments {
  global_shuffle_options options = {};
};

preserving global_shuffle(global_shuffle_options o = {});
SLUICE_OPTIONS_IN_BRACES_AFTER(preserving, global_shuffle, global_shuffle_options, "global_shuffle({.seed = 7})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::global_shuffle;
using lib::global_shuffle_options;

}  // namespace sluice
