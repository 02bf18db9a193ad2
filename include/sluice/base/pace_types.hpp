// SPDX-License-Identifier: Apache-2.0
// Types of arguments that limit the speed of a run: times, rates, amounts. They change no element, so they are not part
// of fingerprints, and a checkpoint fits a plan with other values.
//
//   numbers | sleep(std::chrono::milliseconds(10))       // in plan text: sleep(10ms)
//
// See: base/field_types.hpp for the other types of arguments.
#pragma once

#if __has_include(<bits/chrono.h>)
#include <bits/chrono.h>  // as in coro/environment.hpp: <chrono> brings streams
#else
#include <chrono>
#endif
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::lib {

/// A required time ≥ 0; plan text writes 10ms, 1.5s, 250us, 5min, 1h.
struct time_span {
  static constexpr std::int64_t kNotGiven = -1;
  std::int64_t value = kNotGiven;  ///< nanoseconds
  constexpr time_span() = default;
  template <class Rep, class Period>
  constexpr time_span(std::chrono::duration<Rep, Period> d)  // NOLINT: times are written as times
      : value(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count()) {}
};
/// Parses "10ms", "1.5 s", "5m" (minutes), "0s". Returns false if the text is not a time, or exceeds a million hours.
bool read_time_span(std::string_view text, std::int64_t& nanoseconds);
/// Prints the time in the largest unit that yields a whole number: "10ms", "90s".
std::string print_time_span(std::int64_t nanoseconds);

/// A number per second, more than 0; 0 means no limit.
struct rate {
  double value = 0;
  constexpr rate() = default;
  constexpr rate(double v) : value(v) {}  // NOLINT: numbers are written as numbers
};

/// A number of elements or of bytes, at least 1; 0 leaves the choice to the operator. Plan text also accepts 1MiB.
struct amount {
  std::int64_t value = 0;
  constexpr amount() = default;
  constexpr amount(std::int64_t v) : value(v) {}  // NOLINT
};

}  // namespace sluice::lib
