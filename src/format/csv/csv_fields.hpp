// SPDX-License-Identifier: Apache-2.0
// Parses one field of a CSV file as a number. Spaces and tabs around it are ignored; floating-point numbers are rounded
// correctly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/text/ascii.hpp"
#include "base/text/read_number.hpp"
#include "sluice/base/status.hpp"
#include "sluice/element/dtype.hpp"
#include "sluice/format/csv_schema.hpp"

namespace sluice::lib::detail {

/// Calls f(std::type_identity<T>) with the number type of a column. REQUIRES: no string, no 16-bit float.
template <class F> decltype(auto) with_csv_number(dtype d, F f) {
  switch (d) {
    case dtype::boolean: return f(std::type_identity<bool>());
    case dtype::int8: return f(std::type_identity<std::int8_t>());
    case dtype::int16: return f(std::type_identity<std::int16_t>());
    case dtype::int32: return f(std::type_identity<std::int32_t>());
    case dtype::int64: return f(std::type_identity<std::int64_t>());
    case dtype::uint8: return f(std::type_identity<std::uint8_t>());
    case dtype::uint16: return f(std::type_identity<std::uint16_t>());
    case dtype::uint32: return f(std::type_identity<std::uint32_t>());
    case dtype::uint64: return f(std::type_identity<std::uint64_t>());
    case dtype::float32: return f(std::type_identity<float>());
    case dtype::float64: return f(std::type_identity<double>());
    default: break;
  }
  throw_status(internal_error("a column of CSV is of no such type"));
}

inline bool is_csv_space(char c) { return c == ' ' || c == '\t'; }

/// Removes the spaces around a field, which are rare.
inline std::string_view trimmed_field(std::string_view s) {
  while (!s.empty() && is_csv_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_csv_space(s.back())) s.remove_suffix(1);
  return s;
}

template <class T> bool read_csv_exactly(std::string_view s, T& to) {
  if constexpr (std::is_same_v<T, bool>) {
    to = s == "1" || s == "true" || s == "True" || s == "TRUE";
    return to || s == "0" || s == "false" || s == "False" || s == "FALSE";
  } else if constexpr (std::is_floating_point_v<T>) {
    return read_real_or_hexadecimal(s, to) == number_text::read;
  } else {
    return read_digits(s, to) == number_text::read;
  }
}

/// Parses a number with spaces or a plus sign, which the usual form does not have.
template <class T> bool read_csv_loosely(std::string_view s, T& to) {
  s = trimmed_field(s);
  if (s.size() > 1 && s[0] == '+' && (is_digit(s[1]) || s[1] == '.')) s.remove_prefix(1);
  return read_csv_exactly(s, to);
}

template <class T> inline bool read_csv_number(std::string_view s, T& to) {
  return read_csv_exactly(s, to) || read_csv_loosely(s, to);
}

inline bool is_csv_number(dtype d, std::string_view s) {
  return with_csv_number(d, [&]<class T>(std::type_identity<T>) {
    T v{};
    return read_csv_number(s, v);
  });
}

/// Returns the text of a schema for fields of this one and also for `field`, which does not fit the column. A field
/// equal to "" is missing.
std::string csv_schema_with(const csv_schema& schema, std::size_t column, std::string_view field);

}  // namespace sluice::lib::detail
