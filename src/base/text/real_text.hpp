// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace sluice::lib {

/// The shortest text that reads back as `v`, which is finite; with a point or an exponent, so that nobody takes it for an integer.
template <class T> void append_real(T v, std::string& out) {
  char room[32];
  const std::string_view text(room, static_cast<std::size_t>(std::to_chars(room, room + sizeof room, v).ptr - room));
  out += text;
  if (text.find_first_of(".e") == text.npos) out += ".0";
}

/// Appends any value, with the words `nan`, whose sign means nothing, `inf` and `-inf`.
template <class T> void append_real_or_word(T v, std::string& out) {
  if (std::isfinite(v)) return append_real(v, out);
  out += std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
}

}  // namespace sluice::lib
