// SPDX-License-Identifier: Apache-2.0
// shuffle: a random order of the elements, within the limits of a buffer of n elements.
//
//   records | shuffle(10'000, {.seed = 7})
//
// The buffer is filled with the first n elements. Then each draw delivers the element in a random slot of the buffer,
// and the next input element is put into that slot.
// Order:  a pure function of (seed, outer elements, epoch, input order): the same on any number of threads and after
//         any resume. Two shuffles with the same explicit seed draw the same numbers, wherever they are in a plan, so
//         that pipelines shuffled with seed=7 stay aligned. Without an explicit seed a shuffle draws by the run's seed,
//         which the report shows and checkpoints contain, and by its site (plan/node.hpp). Two shuffles without a seed
//         never draw the same numbers, and stages that are added around a shuffle do not change its order. In an inner
//         plan (flat_map, interleave) the draws also depend on the outer element. Each epoch of a repeat has another
//         order, unless reshuffle_each_iteration is false. A program that iterates a plan once per epoch by hand must
//         pass the number of the epoch, because otherwise every iteration has the same order:
//         ds.iterate(rt, {.epoch = e}), `sluice run --epoch e`.
// Ends:   with the input, when the buffer is empty.
// Errors: resource_exhausted: the sum of all held memory, including the buffer, exceeds the memory budget.
// Owns:   n elements. Records are copied out of their file buffers, so that one record does not keep a whole buffer in
//         memory. A record of N bytes takes N + 56 bytes. This is rounded up to a multiple of 16 below 1 KiB, and by at
//         most a sixteenth above. Other elements take their size, and the memory that they own on the heap.
// State:  two integers, whatever the size of the buffer: the number of draws made, and the length of the input once it
//         is known. A resume scans the draws backwards to find which element was in each slot, and makes those
//         elements again.
#pragma once

#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info shuffle_op;

struct shuffle_options {
  sluice::lib::seed seed = {};           ///< -1: from the run's seed and the site
  bool reshuffle_each_iteration = true;  ///< another order in each epoch of a repeat
};
struct shuffle_arguments {
  count buffer_size = {};  ///< number of elements in the buffer
  shuffle_options options = {};
};

preserving shuffle(count buffer_size, shuffle_options o = {});
SLUICE_OPTIONS_IN_BRACES(preserving, shuffle, count, shuffle_options, "shuffle(1000, {.seed = 7})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::shuffle;
using lib::shuffle_options;

}  // namespace sluice
