// SPDX-License-Identifier: Apache-2.0
// skip: all elements except the first n.
//
//   records | map(parse) | skip(1'000'000)      // parse is not called for them
//
// One-to-one stages upstream forward the skip to their inputs, up to the source, which skips its elements without
// making them. So errors in the first n elements are not noticed (tf.data computes these elements, and fails).
// Order:  as the input's.
// Ends:   with the input; skip(-1) is empty.
// State:  the number of elements that are still to be skipped.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info skip_op;

struct skip_arguments {
  count_or_all elements = {};  ///< number of elements; -1: all
};

preserving skip(count_or_all elements);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::skip;

}  // namespace sluice
