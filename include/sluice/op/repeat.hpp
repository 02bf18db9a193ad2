// SPDX-License-Identifier: Apache-2.0
// repeat: the input again and again.
//
//   files | shuffle(1000, {.seed = 7}) | repeat(3)      // three epochs, each in an order of its own
//
// The input is run anew for each epoch; shuffles below it draw by the epoch's number unless told otherwise.
// Order:  as the input's, epoch after epoch; epochs do not mix.
//         Every pass of nested repeats is an epoch of its own.
// Ends:   after `times` epochs, empty ones too; repeat() never, except that it ends with an epoch that gives nothing.
// State:  the epoch, and the input's position in it.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info repeat_op;

struct repeat_arguments {
  count_or_all times = -1;  ///< epochs; -1: for ever
};

preserving repeat(count_or_all times = -1);

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::repeat;

}  // namespace sluice
