// SPDX-License-Identifier: Apache-2.0
// assert_cardinality: an error where the input has another number of elements than is said.
//
//   tfrecord("train.tfrecord") | assert_cardinality(1'281'167)
//   range(5) | repeat() | assert_cardinality(-1)                     // it never ends
//
// Behind it the number is known: to batch, to a progress bar, to whoever asks cardinality_of.
// Order:  as the input's.
// Ends:   with the input.
// Errors: failed_precondition: the input ends before so many elements, or has more; after the elements that it has, or the n that were
//         to come. A consumer that asks for fewer is not told.
// State:  none of its own: the input's position.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info assert_cardinality_op;

struct assert_cardinality_arguments {
  count_or_all elements = {};  ///< number of elements; -1: without an end
};

preserving assert_cardinality(count_or_all elements);

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::assert_cardinality;

}  // namespace sluice
