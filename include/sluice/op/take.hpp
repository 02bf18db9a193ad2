// SPDX-License-Identifier: Apache-2.0
// take: the first n elements.
//
//   images | take(5)            // a sixth is never decoded
//
// Order:  as the input's.
// Ends:   after n elements, without requesting another element of the input. take(-1) is the whole input.
// State:  the number of elements that are still to be delivered.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info take_op;

struct take_arguments {
  count_or_all elements = {};  ///< number of elements; -1: all
};

preserving take(count_or_all elements);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::take;

}  // namespace sluice
