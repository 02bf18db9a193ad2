// SPDX-License-Identifier: Apache-2.0
// Texts of HTTP: names compare without regard to case, and numbers consist of decimal digits only.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::lib::detail {

inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i != a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

/// Returns true if `text` begins with `start`, in upper or lower case.
inline bool begins_with_name(std::string_view text, std::string_view start) {
  return same_name(text.substr(0, start.size()), start);
}

inline std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Returns false if `text` contains anything but digits, or if the number is too large.
inline bool parse_digits(std::string_view text, std::uint64_t& to) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return false;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), to);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

inline void append_part(std::string& to, std::string_view part) { to += part; }
template <std::integral Number> void append_part(std::string& to, Number n) { to += std::to_string(n); }

/// Joins texts and numbers.
template <class... Parts> std::string joined(const Parts&... parts) {
  std::string all;
  (append_part(all, parts), ...);
  return all;
}

}  // namespace sluice::lib::detail
