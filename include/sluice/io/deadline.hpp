// SPDX-License-Identifier: Apache-2.0
// Deadlines of calls that may wait for something outside of the program. A deadline is a moment on the environment's
// own clock, which a simulation advances by hand. A caller with a time span adds it to that clock's now(). io_deadline
// (io/files.hpp) does so for the runtime's io_timeout.
#pragma once

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

/// No deadline.
inline constexpr time_point kNever = time_point::max();

}  // namespace sluice::lib
