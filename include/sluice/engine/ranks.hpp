// SPDX-License-Identifier: Apache-2.0
// Ranks: what elements are ordered by, as codes of keys.hpp. Besides the types of keys, a rank is a floating-point number
// or an optional. Among numbers a NaN is the smallest, and a missing value is smaller than every value.
//   a floating-point number   8 bytes: those of the double, the sign's bit turned over, or, of a negative one, all bits
//   an optional               a byte 0, or a byte 1 and the code of its value
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "sluice/engine/keys.hpp"

namespace sluice::lib {

/// A rank for each element. build_key() is not called.
struct rank_function : key_function {};

/// A user's function that returns a rank. Not required. In text it may be an expression.
struct rank_argument : function_value {
  rank_argument() = default;
  rank_argument(function_ptr f) : function_value(std::move(f)) {}  // NOLINT: a function is written as a function
};

namespace detail {

/// -0.0 is 0.0.
inline std::uint64_t bits_of_real(double value) {
  if (value != value) return 0;
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
  return bits & kSign ? ~bits : bits | kSign;
}

template <class K> inline constexpr bool is_rank = std::is_floating_point_v<K> || group_key<K>;
template <class K> inline constexpr bool is_rank<std::optional<K>> = is_rank<K>;

template <class K> void add_rank(std::string& code, const K& rank) {
  if constexpr (std::is_floating_point_v<K>) add_bytes(code, bits_of_real(static_cast<double>(rank)));
  else add_code(code, rank);
}
template <class K> void add_rank(std::string& code, const std::optional<K>& rank) {
  code += static_cast<char>(rank.has_value());
  if (rank) add_rank(code, *rank);
}

template <class F, class T>
concept ranks = std::invocable<const F&, const T&> && is_rank<typename key_result<F, T>::type>;

template <class T, class F> struct ranked_function final : rank_function {
  using K = typename key_result<F, T>::type;
  F f;
  explicit ranked_function(F function) : f(std::move(function)) { describe(*this, f, &type_of<T>(), &type_of<K>()); }
  applied codes(const block& from, key_codes& to) const override {
    const T* p = from.as<T>();
    std::uint32_t i = 0;
    try {
      for (; i != from.size(); ++i) {
        add_rank(to.bytes, static_cast<K>(detail::call(f, p[i])));
        to.ends.push_back(to.bytes.size());
      }
    } catch (...) { return {i, current_exception_status()}; }
    return {i, {}};
  }
  void build_key(std::string_view, void*) const override {}
};

}  // namespace detail

}  // namespace sluice::lib
