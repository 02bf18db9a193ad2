// SPDX-License-Identifier: Apache-2.0
// repeat: the elements of the input several times, or for ever.
//
//   files | shuffle(1000, {.seed = 7}) | repeat(3)      // three epochs, each in another order
//
// The stages upstream are opened again for each pass, which is called an epoch. Random draws upstream depend on the
// number of the epoch, so that a shuffle has another order in each epoch, unless its reshuffle_each_iteration is false.
// Order:  as the input's, one epoch after the other. Every pass of nested repeats is an epoch of its own.
// Ends:   after `times` epochs, even if they are empty; after the first epoch if the plan shows that the input is
//         empty. repeat() without a number ends only after an empty epoch.
// State:  the number of the epoch, and the input's position in it.
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

// The public names.
using lib::repeat;

}  // namespace sluice
