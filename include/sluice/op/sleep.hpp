// SPDX-License-Identifier: Apache-2.0
// sleep: a time passes before each element is given on. For tests and demonstrations of slow stages.
//
//   numbers | sleep(std::chrono::milliseconds(10)) | prefetch(4)
//
// The time is that of the run's clock: in a simulation it is virtual and costs nothing.
// Order:  as the input's.
// Ends:   with the input, without a pause.
// Errors: those of the input.
// Cancel: a stop ends the pause at once.
// State:  none of its own: the input's position. Elements that are passed over are not waited for. The time may differ in a
//         resumed run.
// See:    rate_limit, which waits only where elements come too fast.
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

// What users write.
using lib::sleep;

}  // namespace sluice
