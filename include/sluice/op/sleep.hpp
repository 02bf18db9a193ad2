// SPDX-License-Identifier: Apache-2.0
// sleep: waits for a given time before each element. It serves tests and demonstrations of slow stages.
//
//   numbers | sleep(std::chrono::milliseconds(10)) | prefetch(4)
//
// The time is measured on the run's clock: in a simulation it is virtual and costs nothing.
// Order:  as the input's.
// Ends:   with the input, without a pause.
// Errors: those of the input.
// Cancel: a stop ends the pause at once.
// State:  none of its own: the input's position. Skipped elements cause no wait. The time may differ in a resumed run.
// See:    rate_limit, which waits only if elements come too fast.
#pragma once

#include "sluice/base/pace_types.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info sleep_op;

struct sleep_arguments {
  time_span time = {};  ///< the pause before each element
};

preserving sleep(time_span time);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::sleep;

}  // namespace sluice
