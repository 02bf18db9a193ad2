// SPDX-License-Identifier: Apache-2.0
// Quotes and dashes that a word processor puts in place of those of a keyboard.
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace sluice::lib::detail {

/// Returns the number of bytes of a typographic quote at the beginning; 0: none.
inline std::size_t typographic_quote_bytes(std::string_view text) {
  for (std::string_view quote : {"“", "”", "„", "‘", "’", "«", "»"})
    if (text.starts_with(quote)) return quote.size();
  return 0;
}

/// Returns "\"Rome\"" for a text that begins with “Rome”; empty if it begins with no typographic quote, or has no second.
inline std::string in_typographic_quotes(std::string_view text) {
  const std::size_t first = typographic_quote_bytes(text);
  for (std::size_t i = first; first != 0 && i < text.size() && text[i] != '\n'; ++i)
    if (typographic_quote_bytes(text.substr(i)) != 0) return "\"" + std::string(text.substr(first, i - first)) + "\"";
  return {};
}

/// Returns the number of bytes of the dashes at the beginning, of which at least one is typographic; 0: none is.
inline std::size_t typographic_dash_bytes(std::string_view text) {
  std::size_t n = 0;
  bool has_one = false;
  for (bool is_dash = true; is_dash;) {
    is_dash = false;
    for (std::string_view dash : {"-", "–", "—", "−", "‐"})
      if (!is_dash && text.substr(n).starts_with(dash)) {
        is_dash = true;
        has_one |= dash != "-";
        n += dash.size();
      }
  }
  return has_one ? n : 0;
}

}  // namespace sluice::lib::detail
