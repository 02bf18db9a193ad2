// SPDX-License-Identifier: Apache-2.0
// The fields of a column as numbers, many at a time: [-]digits[.digits] of at most 16 characters, which nearly all are, without
// a branch that depends on their digits.
//
//   std::size_t done = read_csv_numbers<float>(spans, n, window_begin, to);    // spans[done] is not as usual
//
// Values are what the nearest number is, ties to even, as those of format/csv/csv_fields.hpp.
// Thread: pure functions.
#pragma once

#include <cstddef>

namespace sluice::lib::detail {

struct csv_span {
  const char* begin;
  const char* end;
};

/// Reads fields as float, double, std::int64_t or std::int32_t. Bytes from `readable` on up to each field's end may be
/// read. Returns the number of fields up to the first that is unusual, or out of range.
template <class T> std::size_t read_csv_numbers(const csv_span* spans, std::size_t n, const char* readable, T* to);

}  // namespace sluice::lib::detail
