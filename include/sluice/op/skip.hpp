// SPDX-License-Identifier: Apache-2.0
// skip: all but the first n elements.
//
//   records | map(parse) | skip(1'000'000)      // parse is not called for them
//
// Skipping runs through one-to-one stages to the source, which passes over its elements without reading their payload.
// Errors in skipped elements are not seen (tf.data computes them, and stops).
// Order:  as the input's.
// Ends:   with the input; skip(-1) is empty.
// State:  how many are still to be skipped.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info skip_op;

struct skip_arguments {
  count_or_all elements = {};  ///< how many; -1: all
};

preserving skip(count_or_all elements);

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::skip;

}  // namespace sluice
