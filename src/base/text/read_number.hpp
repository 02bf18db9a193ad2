// SPDX-License-Identifier: Apache-2.0
// The one reader of numbers that are written as text: fields of CSV, values of JSON, literals, and to_number().
//
//   double x = 0;
//   if (read_real("1.5e3", x) == number_text::read) …
//
// A floating-point number is rounded once, to the nearest value of its own type. A number that is too large for the
// type is out_of_range; a number that is too small for it is zero. A whole number is exact or not read at all.
#pragma once

#include <fast_float/fast_float.h>

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include "base/text/ascii.hpp"

namespace sluice::lib {

enum class number_text : std::uint8_t {
  read,
  malformed,     ///< the text is no number
  out_of_range,  ///< the type does not contain the number; a floating-point result is then infinite
  not_whole,     ///< the number is not whole, and the type contains whole numbers only
};

/// Reads a whole text as decimal floating point, or one of the words inf, infinity and nan.
template <std::floating_point T> number_text read_real(std::string_view s, T& to) {
  const auto r = fast_float::from_chars(s.data(), s.data() + s.size(), to);
  if (r.ec == std::errc::invalid_argument || r.ptr != s.data() + s.size()) return number_text::malformed;
  const bool is_word = (s.back() | 0x20) == 'f' || (s.back() | 0x20) == 'y';
  return std::isinf(to) && !is_word ? number_text::out_of_range : number_text::read;
}

inline bool is_hexadecimal(std::string_view s) {
  if (s.starts_with('-') || s.starts_with('+')) s.remove_prefix(1);
  return s.starts_with("0x") || s.starts_with("0X");
}

/// Reads the same, and hexadecimal floating point as C writes it: 0x1p3, -0x1.8, 0xff.
template <std::floating_point T> number_text read_real_or_hexadecimal(std::string_view s, T& to) {
  if (!is_hexadecimal(s)) return read_real(s, to);
  const bool is_negative = s[0] == '-';
  s.remove_prefix(is_negative || s[0] == '+' ? 3 : 2);
  if (s.starts_with('-')) return number_text::malformed;
  T magnitude{};
  const auto r = std::from_chars(s.data(), s.data() + s.size(), magnitude, std::chars_format::hex);
  if (r.ec == std::errc::invalid_argument || r.ptr != s.data() + s.size()) return number_text::malformed;
  if (r.ec == std::errc::result_out_of_range) {
    const bool is_small = s.find("p-") != s.npos || s.find("P-") != s.npos;
    magnitude = is_small ? T{0} : std::numeric_limits<T>::infinity();
  }
  to = is_negative ? -magnitude : magnitude;
  return std::isinf(to) ? number_text::out_of_range : number_text::read;
}

/// Reads digits with an optional minus sign.
template <std::integral T> number_text read_digits(std::string_view s, T& to) {
  const auto r = std::from_chars(s.data(), s.data() + s.size(), to);
  if (r.ec == std::errc::invalid_argument || r.ptr != s.data() + s.size()) return number_text::malformed;
  return r.ec == std::errc() ? number_text::read : number_text::out_of_range;
}

/// A decimal number as digits without zeros at the end, times 10^exponent.
struct decimal_number {
  bool is_negative = false;
  std::string digits;
  std::int64_t exponent = 0;

  /// Returns false if `s` is no decimal number.
  bool read(std::string_view s);
  /// Writes the digits of the number if it is whole and has at most 20.
  number_text whole_digits(std::string& to) const;
};

/// Reads a whole number however it is written: 12, 12.0, 1.2e1, 120e-1. The result is exact.
template <std::integral T> number_text read_whole_number(std::string_view s, T& to) {
  if (const number_text plain = read_digits(s, to); plain != number_text::malformed) return plain;
  decimal_number d;
  if (!d.read(s)) return number_text::malformed;
  std::string digits;
  const number_text whole = d.whole_digits(digits);
  return whole == number_text::read ? read_digits(digits, to) : whole;
}

}  // namespace sluice::lib
