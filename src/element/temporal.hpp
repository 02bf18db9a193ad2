// SPDX-License-Identifier: Apache-2.0
// Types of points in time and of durations, as Arrow has them: an int64 that counts units. The name of the type states
// the unit, so that an output can write the same type again:
//
//   timestamp[s|ms|us|ns]  timestamp[us, Europe/Berlin]  date32 (days)  date64 (ms)  time32[s|ms]  time64[us|ns]
//   duration[s|ms|us|ns]
//
// Everything else treats such a value as a number, like an enum (element/scalars.hpp).
// Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/element/type.hpp"

namespace sluice::lib {

struct temporal_unit {
  enum class form : std::uint8_t { timestamp, date32, date64, time32, time64, duration };
  form is = form::timestamp;
  char unit = 's';     ///< 's', 'm' (milliseconds), 'u', 'n'; not used by dates
  std::string zone{};  ///< of a timestamp; "": none
};

/// Reads a name, also in pyarrow's spelling: "timestamp[us, tz=UTC]", "date32[day]". Returns false for other names.
bool read_temporal_name(std::string_view name, temporal_unit& to);
std::string temporal_name(const temporal_unit& u);
/// Returns null if a name made of `u` could not be read again: an impossible unit, or a zone with characters that no
/// zone has.
const element_type* temporal_type(const temporal_unit& u);
/// Returns null if `name` is no such type.
const element_type* temporal_type(std::string_view name);
/// Returns false if `t` is no such type.
bool temporal_of(const element_type& t, temporal_unit& to);

}  // namespace sluice::lib
