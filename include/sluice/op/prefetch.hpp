// SPDX-License-Identifier: Apache-2.0
// prefetch: work ahead of the consumer.
//
//   pipeline | prefetch(autotune)
//
// Everything above runs as a task of its own and fills a channel of up to n elements; the consumer takes from it.
// Order:  as the input's.
// Errors: come after the elements before them.
// Cancel: a stop, or dropping the stream, ends the task; what it had made is dropped.
// Units:  elements; the memory ledger limits bytes as well, except for the block the consumer waits for.
// State:  none of its own: the position is the one of the next element delivered, as if there were no prefetch.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info prefetch_op;

struct prefetch_arguments {
  knob elements = autotune;  ///< made ahead at most
};

preserving prefetch(knob elements = autotune);

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::prefetch;

}  // namespace sluice
