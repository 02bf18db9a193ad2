// SPDX-License-Identifier: Apache-2.0
// range: whole numbers.
//
//   range(5)                                   // 0 1 2 3 4
//   range(10, {.start = 2, .step = 3})         // 2 5 8
//
// Shape:  std::int64_t; exact cardinality.
// Ends:   before `stop`; at once where step leads away from it.
// Errors: invalid_argument when step is 0.
// State:  how many were made; passing over costs nothing.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info range_op;

struct range_options {
  std::int64_t start = 0;  ///< the first number made
  std::int64_t step = 1;   ///< not 0; negative counts down
};
struct range_arguments {
  integer stop = {};  ///< the first number not made
  range_options options = {};
};

dataset<std::int64_t> range(integer stop, range_options o = {});

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::range;
using lib::range_options;

}  // namespace sluice
