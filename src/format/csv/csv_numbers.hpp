// SPDX-License-Identifier: Apache-2.0
// Parses the fields of a column as numbers, many at a time. It accepts [-]digits[.digits] of at most 16 characters, the
// form of nearly all fields, without a branch that depends on their digits.
//
//   std::size_t done = read_csv_numbers<float>(spans, n, window_begin, to);    // spans[done] has another form
//
// Values are the nearest number, ties to even, as in format/csv/csv_fields.hpp.
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::lib::detail {

struct csv_span {
  const char* begin;
  const char* end;
};

/// Returns why a field that is a number has not this type, as the end of a message; "" for other fields and types.
std::string_view csv_number_rule(std::string_view type, std::string_view field);

/// Reads fields as float, double, std::int64_t or std::int32_t. Bytes from `readable` on up to each field's end may be
/// read. Returns the number of fields up to the first that has another form, or is out of range.
template <class T> std::size_t read_csv_numbers(const csv_span* spans, std::size_t n, const char* readable, T* to);

/// A row without quotes: its first byte, and the places of the signs after its fields, which count from `bytes`.
struct csv_usual_row {
  const char* begin;
  const char* bytes;
  const std::uint32_t* ends;

  csv_span field(std::size_t f) const { return {f == 0 ? begin : bytes + ends[f - 1] + 1, bytes + ends[f]}; }
};

/// A number that is checked, and not read. `has_point`: a point may be among the digits: its column is float or double,
/// otherwise std::int64_t.
struct csv_number_check {
  std::uint32_t field;
  std::uint32_t column;
  bool has_point;
};

/// Returns the number of checks before the first one whose field is not such a number, or may not fit its column. Bytes from
/// `readable` on up to each field's end may be read.
std::size_t check_csv_numbers(const csv_usual_row& row, const csv_number_check* checks, std::size_t n,
                              const char* readable);

}  // namespace sluice::lib::detail
