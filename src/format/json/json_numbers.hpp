// SPDX-License-Identifier: Apache-2.0
// Numbers of simdjson's documents as numbers of any type, rounded once, or not read at all.
#pragma once

#include <absl/strings/str_cat.h>
#include <simdjson.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/text/read_number.hpp"
#include "element/scalars.hpp"
#include "format/json/large_numbers.hpp"

namespace sluice::lib {

/// The number that stands here as a text (large_numbers.hpp); "" for any other value.
inline std::string_view number_in_words(const simdjson::dom::element& j) {
  simdjson::dom::object whole;
  std::string_view token;
  if (j.get(whole) != simdjson::SUCCESS || whole.size() != 1) return {};
  const bool is_one = whole.begin().key() == kLargeNumberKey && whole.begin().value().get(token) == simdjson::SUCCESS;
  return is_one && is_marked_number(token) ? token : std::string_view();
}

/// " (-128 to 127)" behind the name of a type of numbers.
inline std::string range_text(const element_type& t) {
  std::string text;
  if (t.kind != kind::scalar) return text;
  detail::with_number(t, [&]<class T>(std::type_identity<T>) {
    using limits = std::numeric_limits<T>;
    if constexpr (!std::is_same_v<T, bool>) text = absl::StrCat(" (", +limits::lowest(), " to ", +limits::max(), ")");
  });
  return text;
}

/// Returns true for a number that was refused because its type does not contain it, and not because it is not whole.
inline bool is_out_of_range(const simdjson::dom::element& j) {
  std::int64_t whole = 0;
  const std::string_view spelled = number_in_words(j);
  return spelled.empty() ? j.type() == simdjson::dom::element_type::DOUBLE
                         : read_whole_number(spelled, whole) != number_text::not_whole;
}

/// Thrown if the double that simdjson has made of a number does not decide its value in the member's type.
struct needs_spelling {};

/// Returns true if `d` is as far from `f` as from another T. The number that `d` was made of may then be nearer to that.
template <class T> bool is_middle(double d, T f) {
  if (static_cast<double>(f) == d) return false;
  const T most = std::numeric_limits<T>::max();
  if (std::isinf(f)) {
    const double step = static_cast<double>(most) - static_cast<double>(std::nextafter(most, T{0}));
    return std::abs(d) == static_cast<double>(most) + step / 2;
  }
  const T other = std::nextafter(f, d > static_cast<double>(f) ? most : -most);
  return d - static_cast<double>(f) == static_cast<double>(other) - d;
}

/// Rounds a number once. Returns false if it is beyond all values of T.
template <class T> bool to_nearest(const simdjson::dom::element& j, T& to) {
  std::int64_t whole = 0;
  std::uint64_t large = 0;
  double d = 0;
  if (j.type() == simdjson::dom::element_type::INT64 && j.get(whole) == simdjson::SUCCESS)
    return to = static_cast<T>(whole), true;
  if (j.type() == simdjson::dom::element_type::UINT64 && j.get(large) == simdjson::SUCCESS)
    return to = static_cast<T>(large), true;
  if (j.get(d) != simdjson::SUCCESS) return false;
  to = static_cast<T>(d);
  if constexpr (!std::is_same_v<T, double>)
    if (is_middle(d, to)) throw needs_spelling();
  return std::isfinite(to);
}

template <class T> bool read_json_number(const simdjson::dom::element& j, T& to) {
  if constexpr (std::is_same_v<T, bool>) {
    return j.get(to) == simdjson::SUCCESS;
  } else if constexpr (std::is_floating_point_v<T>) {
    std::string_view word;
    if (const std::string_view spelled = number_in_words(j); !spelled.empty())
      return read_real(spelled, to) == number_text::read;
    if (j.is_number()) return to_nearest(j, to);
    if (j.get(word) != simdjson::SUCCESS) return false;
    if (word == "NaN") to = std::numeric_limits<T>::quiet_NaN();
    else if (word == "Infinity" || word == "-Infinity")
      to = std::numeric_limits<T>::infinity() * (word[0] == '-' ? -1 : 1);
    else return false;
    return true;
  } else {
    std::int64_t whole = 0;
    std::uint64_t large = 0;
    if (j.type() == simdjson::dom::element_type::INT64 && j.get(whole) == simdjson::SUCCESS) {
      to = static_cast<T>(whole);
      return std::in_range<T>(whole);
    }
    if (j.type() == simdjson::dom::element_type::UINT64 && j.get(large) == simdjson::SUCCESS) {
      to = static_cast<T>(large);
      return std::in_range<T>(large);
    }
    if (j.type() == simdjson::dom::element_type::DOUBLE) throw needs_spelling();  // such as 1e18 and 12.0
    return read_whole_number(number_in_words(j), to) == number_text::read;
  }
}

}  // namespace sluice::lib
