// SPDX-License-Identifier: Apache-2.0
// random: an endless sequence of random whole numbers.
//
//   random({.seed = 7})                  // 0 … 2⁶³ - 2
//   random({.seed = 7, .below = 6})      // 0 … 5
//
// The k-th number is a function of the seed, the epoch and k alone: it is the same after a resume and on any machine.
// Shape:  std::int64_t, uniform.
// Order:  the order of the draws.
// Ends:   never.
// State:  the number of elements delivered. Skipping is free.
// See:    random() in expressions, for draws beside the elements of a stream.
#pragma once

#include <cstdint>

#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info random_op;

struct random_options {
  sluice::lib::seed seed = {};            ///< seed of the draws; -1: from the run's seed and the site
  std::int64_t below = INT64_MAX;         ///< all numbers are smaller than this
  bool reshuffle_each_iteration = false;  ///< other numbers in each epoch of a repeat
};
struct random_arguments {
  random_options options = {};
};

/// It has no default argument, because C's library has a random().
dataset<std::int64_t> random(random_options o);
SLUICE_OPTIONS_IN_BRACES_AFTER(dataset<std::int64_t>, random, random_options, "random({.seed = 7})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::random;
using lib::random_options;

}  // namespace sluice
