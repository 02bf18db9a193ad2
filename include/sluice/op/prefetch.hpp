// SPDX-License-Identifier: Apache-2.0
// prefetch: makes elements ahead of the consumer's demand.
//
//   pipeline | prefetch(autotune)
//
// A task (a pump) requests elements from the stages upstream and puts them into a channel of up to n elements, from
// which the consumer takes them. If moving a block to another core costs more than making it (a few microseconds, plus
// the time for its bytes), no task runs. The consumer's worker then makes the block on request, and no element is
// ahead.
// Order:  as the input's.
// Errors: an error of the input comes after the elements before it.
// Cancel: a stop, or the destruction of the stream, ends the task; the elements in the channel are destroyed.
// Units:  elements. The memory ledger limits bytes as well, except for the block that the consumer waits for.
// State:  none of its own: the position of the next element that the consumer gets, as without prefetch.
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

// The public names.
using lib::prefetch;

}  // namespace sluice
