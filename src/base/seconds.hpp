// SPDX-License-Identifier: Apache-2.0
// A time as a number of seconds, for reports and models.
#pragma once

#include <chrono>

namespace sluice::lib {

inline double seconds_of(std::chrono::nanoseconds t) { return std::chrono::duration<double>(t).count(); }

}  // namespace sluice::lib
