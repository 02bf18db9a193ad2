// SPDX-License-Identifier: Apache-2.0
// The time that a stage waits: a time span among the arguments of an operator. Plan text writes 50ms.
//
//   requests | batch(32, {.timeout = std::chrono::milliseconds(5)})
//
// Units:  nanoseconds; text like that of time_span (base/pace_types.hpp).
#pragma once

#include <cstdint>
#include "sluice/base/pace_types.hpp"

namespace sluice::lib {

/// A time span > 0; 0 means none.
struct wait_time {
  std::int64_t value = 0;  ///< nanoseconds
  constexpr wait_time() = default;
  template <class Rep, class Period>
  constexpr wait_time(std::chrono::duration<Rep, Period> d)  // NOLINT: spans are written as spans
      : value(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count()) {}
  constexpr bool is_given() const { return value != 0; }
};
}  // namespace sluice::lib
