// SPDX-License-Identifier: Apache-2.0
// global_shuffle: all elements of an input that can seek, in a random order, without a buffer.
//
//   range(1'000'000'000) | global_shuffle({.seed = 7}) | map(f) | batch(64)
//   numbers | batch(2) | global_shuffle()
//
// The place of each element is computed from the seed and its number: a permutation of all n numbers (base/index_permutation.hpp),
// of which every order has the same right for small n, and which looks like noise for all others. The elements are then asked
// for by their numbers, those of one request in ascending order, so that neighbours are read together: the input is opened once for each
// request. Nothing upstream works ahead, whatever prefetch and parallelism say there: maps that take time go behind this stage.
// Shape:  T, as many as the input has.
// Order:  a function of the seed, on any number of workers and after any resume; another one in each epoch of a repeat.
// Ends:   after all elements.
// Errors: invalid_argument, when the plan is made: the input's number of elements is not known or has no end; a stage of it cannot
//         give its element number i without making those before it (at least one that drops bad elements); the message names the
//         first. In a run: out_of_range, the input ended before the number of elements that its plan says. An element that cannot be made
//         is one of this stage: under error_policy::skip it is dropped and counted.
// Owns:   the elements of one request.
// State:  how many elements were delivered. A resume and a `skip` cost as much as one element.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info global_shuffle_op;

struct global_shuffle_options {
  sluice::lib::seed seed = {};           ///< -1: drawn once per run
  bool reshuffle_each_iteration = true;  ///< another order in each epoch of a repeat
};
struct global_shuffle_arguments {
  global_shuffle_options options = {};
};

preserving global_shuffle(global_shuffle_options o = {});

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::global_shuffle;
using lib::global_shuffle_options;

}  // namespace sluice
