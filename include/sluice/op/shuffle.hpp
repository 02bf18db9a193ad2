// SPDX-License-Identifier: Apache-2.0
// shuffle: a random order, as far as a buffer of n elements reaches.
//
//   records | shuffle(10'000, {.seed = 7})
//
// The buffer is filled; then each draw gives a random one of it, whose place the next input element takes.
// Order:  a pure function of (seed, outer elements, epoch, input order): the same on any number of threads, after any
//         resume. With a seed, two shuffles that have the same one draw alike wherever they stand: pipelines shuffled with
//         seed=7 stay aligned. Without, a shuffle draws by the run's seed, which the report shows and a checkpoint keeps,
//         and by its place in the plan (plan/node.hpp, sites): no two draw alike, and no stage that is added around it
//         changes its order. Within a plan opened for each element (flat_map, interleave) each element's draws differ.
//         Each epoch of a repeat draws anew. A plan that is iterated once per epoch by hand has to say which it is, or
//         every iteration has the same order: ds.iterate(rt, {.epoch = e}), `sluice run --epoch e`.
// Ends:   with the input, after the buffer is emptied.
// Errors: resource_exhausted when the buffer exceeds the memory budget, alone or together with what else is held.
// Owns:   n elements. Records are copied out of their file buffers, so that holding one does not hold all of them.
// State:  two integers, whatever the size: the draws made, and the input's length once known. A resume finds what each
//         place held by scanning the draws backwards, and fetches those elements again.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info shuffle_op;

struct shuffle_options {
  sluice::lib::seed seed = {};           ///< -1: drawn once per run
  bool reshuffle_each_iteration = true;  ///< another order in each epoch of a repeat
};
struct shuffle_arguments {
  count buffer_size = {};  ///< elements held
  shuffle_options options = {};
};

preserving shuffle(count buffer_size, shuffle_options o = {});

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::shuffle;
using lib::shuffle_options;

}  // namespace sluice
