// SPDX-License-Identifier: Apache-2.0
// counter: whole numbers without an end.
//
//   counter()                                  // 0 1 2 3 …
//   counter({.start = 10, .step = -5})         // 10 5 0 -5 …
//
// Shape:  std::int64_t. Behind the largest number they go on with the smallest, as two's complement does.
// Order:  by step.
// Ends:   never.
// State:  how many were given. Passing over is free.
#pragma once

#include <cstdint>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info counter_op;

struct counter_options {
  std::int64_t start = 0;  ///< the first number
  std::int64_t step = 1;   ///< from one number to the next; may be 0 and negative
};
struct counter_arguments {
  counter_options options = {};
};

dataset<std::int64_t> counter(counter_options o = {});

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::counter;
using lib::counter_options;

}  // namespace sluice
