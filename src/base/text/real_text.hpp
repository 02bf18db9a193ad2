// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace sluice::lib {

/// Appends the shortest text that reads back as `v`, which must be finite. The text has a point or an exponent, so that
/// it is not mistaken for an integer.
template <class T> void append_real(T v, std::string& out) {
  char room[32];
  const std::string_view text(room, static_cast<std::size_t>(std::to_chars(room, room + sizeof room, v).ptr - room));
  out += text;
  if (text.find_first_of(".e") == text.npos) out += ".0";
}

/// Appends any value, with the words `nan` (without a sign), `inf` and `-inf`.
template <class T> void append_real_or_word(T v, std::string& out) {
  if (std::isfinite(v)) return append_real(v, out);
  out += std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
}

}  // namespace sluice::lib
