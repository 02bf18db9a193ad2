// SPDX-License-Identifier: Apache-2.0
// counter: an endless sequence of whole numbers.
//
//   counter()                                  // 0 1 2 3 …
//   counter({.start = 10, .step = -5})         // 10 5 0 -5 …
//
// Shape:  std::int64_t. After the largest number the sequence continues with the smallest, as in two's complement.
// Order:  each number is the one before plus `step`.
// Ends:   never.
// State:  the number of elements delivered. Skipping is free.
#pragma once

#include <cstdint>

#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info counter_op;

struct counter_options {
  std::int64_t start = 0;  ///< the first number
  std::int64_t step = 1;   ///< difference between consecutive numbers; may be 0 or negative
};
struct counter_arguments {
  counter_options options = {};
};

dataset<std::int64_t> counter(counter_options o = {});
SLUICE_OPTIONS_IN_BRACES_AFTER(dataset<std::int64_t>, counter, counter_options, "counter({.start = 1})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::counter;
using lib::counter_options;

}  // namespace sluice
