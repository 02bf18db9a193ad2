// SPDX-License-Identifier: Apache-2.0
// random: random whole numbers without an end.
//
//   random({.seed = 7})                  // 0 … 2⁶³ - 2
//   random({.seed = 7, .below = 6})      // 0 … 5
//
// The k-th number is a function of the seed, of the epoch and of k alone: the same after a resume, on any machine.
// Shape:  std::int64_t, uniform.
// Order:  of the draws.
// Ends:   never.
// State:  how many were given. Passing over is free.
// See:    random() in expressions, for draws beside the elements of a stream.
#pragma once

#include <cstdint>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info random_op;

struct random_options {
  sluice::lib::seed seed = {};           ///< of the draws; -1: drawn once per run
  std::int64_t below = INT64_MAX;        ///< numbers are smaller than this
  bool reshuffle_each_iteration = true;  ///< other numbers in each epoch of a repeat
};
struct random_arguments {
  random_options options = {};
};

/// Without a default: C's library has a random().
dataset<std::int64_t> random(random_options o);

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::random;
using lib::random_options;

}  // namespace sluice
