// SPDX-License-Identifier: Apache-2.0
// Comparison operators, and the exact order of numbers of different types.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "expr/evaluation.hpp"

namespace sluice::lib::expressions {

struct equal {
  template <class T> static bool compute(T a, T b) { return a == b; }
};
struct unequal {
  template <class T> static bool compute(T a, T b) { return a != b; }
};
struct less {
  template <class T> static bool compute(T a, T b) { return a < b; }
};
struct less_equal {
  template <class T> static bool compute(T a, T b) { return a <= b; }
};
struct greater {
  template <class T> static bool compute(T a, T b) { return a > b; }
};
struct greater_equal {
  template <class T> static bool compute(T a, T b) { return a >= b; }
};

template <class F> decltype(auto) with_comparison(std::string_view op, F f) {
  if (op == "==") return f(equal());
  if (op == "!=") return f(unequal());
  if (op == "<") return f(less());
  if (op == "<=") return f(less_equal());
  if (op == ">") return f(greater());
  return f(greater_equal());
}

/// Returns -1, 0 or 1: x is less than, equal to, or greater than y; NaN if y is NaN. Conversion would be wrong: 2^53 +
/// 1 is not a double.
template <class I> double order_of(I x, double y) {
  constexpr I kExact = I{1} << std::numeric_limits<double>::digits;
  const bool is_exact =
      x <= kExact && (std::is_unsigned_v<I> || x >= static_cast<I>(-static_cast<std::int64_t>(kExact)));
  if (is_exact || y != y) {
    const auto d = static_cast<double>(x);
    return d < y ? -1 : d > y ? 1 : d == y ? 0 : y;
  }
  // Both bounds are powers of two, which are doubles. x is an integer, and so is y if |y| is that large.
  constexpr double kAbove = static_cast<double>(std::numeric_limits<I>::max() / 2 + 1) * 2;
  constexpr double kBelow = std::is_signed_v<I> ? -kAbove : 0;
  if (y >= kAbove) return -1;
  if (y < kBelow) return 1;
  const I whole = static_cast<I>(y);
  return x < whole ? -1 : x > whole ? 1 : 0;
}

/// A number of any type, represented exactly.
struct any_number {
  enum form_type : std::uint8_t { negative, natural, real } form = natural;
  std::uint64_t bits = 0;  ///< for a negative number, the bits of its int64
  double value = 0;

  template <class T> static any_number of(T v) {
    if constexpr (std::is_floating_point_v<T>) return {real, 0, static_cast<double>(v)};
    else if constexpr (std::is_signed_v<T>)
      return {v < 0 ? negative : natural, static_cast<std::uint64_t>(static_cast<std::int64_t>(v)), 0};
    else return {natural, static_cast<std::uint64_t>(v), 0};
  }
  friend bool operator==(const any_number& a, const any_number& b) {
    if (a.form == real && b.form == real) return a.value == b.value;
    if (a.form == real) return b == a;
    if (b.form != real) return a.form == b.form && a.bits == b.bits;
    if (a.form == negative) return order_of(static_cast<std::int64_t>(a.bits), b.value) == 0;
    return order_of(a.bits, b.value) == 0;
  }
};

/// Returns true if == can compare values of these types: structures with the same names, lists and arrays, tuples,
/// optionals (also with their values), texts, numbers, tensors.
bool can_be_equal(const element_type& a, const element_type& b);
/// Compares all parts, numbers by their values. REQUIRES: can_be_equal.
computed_ptr compared_parts(computed_ptr a, computed_ptr b, bool is_equal);

}  // namespace sluice::lib::expressions
