// SPDX-License-Identifier: Apache-2.0
// The options of operators that compute one output for each input: map and parse_example.
#pragma once

#include "sluice/base/field_types.hpp"

namespace sluice::lib {

struct map_options {
  // Each unit may have its own slot. A larger number is a mistake, or a limit that is better left to the memory budget.
  knob_up_to<65'536> parallelism = {};  ///< blocks computed, or calls awaited, at once; more than 1 works ahead
  sluice::lib::order order =
      order::deterministic;     ///< sloppy: results are delivered in the order in which calls finish
  sluice::lib::seed seed = {};  ///< for the draws of random_source&; -1: from the run's seed and the site
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::map_options;

}  // namespace sluice
