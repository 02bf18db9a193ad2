// SPDX-License-Identifier: Apache-2.0
// range: whole numbers at equal distances.
//
//   range(5)                                   // 0 1 2 3 4
//   range(10, {.start = 2, .step = 3})         // 2 5 8
//
// Shape:  std::int64_t; exact cardinality.
// Ends:   before `stop`. It is empty if `step` leads away from `stop`.
// Errors: invalid_argument if step is 0.
// State:  the number of elements delivered. Skipping costs nothing.
#pragma once

#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info range_op;

struct range_options {
  std::int64_t start = 0;  ///< the first number
  std::int64_t step = 1;   ///< not 0; negative counts down
};
struct range_arguments {
  integer stop = {};  ///< all numbers are before this one
  range_options options = {};
};

dataset<std::int64_t> range(integer stop, range_options o = {});
SLUICE_OPTIONS_IN_BRACES(dataset<std::int64_t>, range, integer, range_options, "range(10, {.start = 2})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::range;
using lib::range_options;

}  // namespace sluice
