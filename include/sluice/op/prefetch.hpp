// SPDX-License-Identifier: Apache-2.0
// prefetch: makes elements ahead of the consumer's demand.
//
//   pipeline | prefetch(autotune)
//
// A task (a pump) requests elements from the stages upstream and puts them into a channel of up to n elements, from
// which the consumer gets them. While a block costs less to make than to move to another core (some microseconds, and the
// time for its bytes), there is no task: the consumer's own worker makes it when asked, and no element is ahead.
// Order:  as the input's.
// Errors: an error of the input comes after the elements before it.
// Cancel: a stop, or the destruction of the stream, ends the task; the elements in the channel are destroyed.
// Units:  elements. The memory ledger limits bytes as well, except for the block that the consumer waits for.
// State:  none of its own: the position is that of the next element that the consumer gets, as if there were no
//         prefetch.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info prefetch_op;

struct prefetch_arguments {
  knob elements = autotune;  ///< the most elements in the channel
};

preserving prefetch(knob elements = autotune);

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::prefetch;

}  // namespace sluice
