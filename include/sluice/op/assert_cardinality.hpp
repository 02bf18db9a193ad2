// SPDX-License-Identifier: Apache-2.0
// assert_cardinality: fails if the input does not have the stated number of elements.
//
//   tfrecord("train.tfrecord") | assert_cardinality(1'281'167)
//   range(5) | repeat() | assert_cardinality(-1)                     // it never ends
//
// Stages and consumers downstream know the number of elements: batch, progress bars and cardinality_of use it.
// Order:  as the input's.
// Ends:   with the input.
// Errors: failed_precondition: the input ends before the stated number of elements, or has more. The error comes after
//         the elements that the input has, or after the stated number of them. A consumer that requests fewer elements
//         does not see the error.
// State:  none of its own: the input's position.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info assert_cardinality_op;

struct assert_cardinality_arguments {
  count_or_all elements = {};  ///< number of elements; -1: the input never ends
};

preserving assert_cardinality(count_or_all elements);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::assert_cardinality;

}  // namespace sluice
