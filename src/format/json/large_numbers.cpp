// SPDX-License-Identifier: Apache-2.0
#include "format/json/large_numbers.hpp"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/text/ascii.hpp"

namespace sluice::lib {
namespace {

/// Removes digits from the front; returns their number.
std::size_t take_digits(std::string_view& s) {
  std::size_t n = 0;
  while (n != s.size() && detail::is_digit(s[n])) ++n;
  s.remove_prefix(n);
  return n;
}

enum class spelling : std::uint8_t { wrong, whole, real };

spelling spelling_of(std::string_view s) {
  if (s.starts_with('-')) s.remove_prefix(1);
  const bool begins_with_zero = s.starts_with('0');
  const std::size_t digits = take_digits(s);
  if (digits == 0 || (begins_with_zero && digits != 1)) return spelling::wrong;
  spelling is = spelling::whole;
  if (s.starts_with('.')) {
    s.remove_prefix(1);
    is = take_digits(s) ? spelling::real : spelling::wrong;
  }
  if (is != spelling::wrong && (s.starts_with('e') || s.starts_with('E'))) {
    s.remove_prefix(1);
    if (s.starts_with('+') || s.starts_with('-')) s.remove_prefix(1);
    is = take_digits(s) ? spelling::real : spelling::wrong;
  }
  return s.empty() ? is : spelling::wrong;
}

/// Returns the place after the closing quote of the text that begins at `at`.
std::size_t end_of_text(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) at += json[at] == '\\';
  return at < json.size() ? at + 1 : json.size();
}

}  // namespace

double double_of_large_number(std::string_view token) {
  double d = 0;
  return absl::SimpleAtod(absl::string_view(token.data(), token.size()), &d) ? d : std::nan("");
}

namespace {

bool is_large_number(std::string_view token) {
  const absl::string_view digits(token.data(), token.size());
  std::int64_t small = 0;
  std::uint64_t large = 0;
  switch (spelling_of(token)) {
    case spelling::whole: return !absl::SimpleAtoi(digits, &small) && !absl::SimpleAtoi(digits, &large);
    case spelling::real: return std::isinf(double_of_large_number(token));
    default: return false;
  }
}

}  // namespace

bool is_marked_number(std::string_view token) { return spelling_of(token) == spelling::real || is_large_number(token); }

std::string with_numbers_marked(std::string_view json, marked_numbers which) {
  const auto is_marked = which == marked_numbers::large ? is_large_number : is_marked_number;
  std::string out;
  std::size_t copied = 0;
  for (std::size_t at = 0; at < json.size();) {
    if (json[at] == '"') {
      at = end_of_text(json, at);
      continue;
    }
    const std::size_t end = std::min(json.find_first_not_of("0123456789+-.eE", at), json.size());
    const bool is_number = json[at] == '-' || detail::is_digit(json[at]);
    if (is_number && is_marked(json.substr(at, end - at))) {
      const std::string before(json.substr(copied, at - copied)), number(json.substr(at, end - at));
      absl::StrAppend(&out, before, "{\"", std::string(kLargeNumberKey), "\":\"", number, "\"}");
      copied = end;
    }
    at = std::max(end, at + 1);
  }
  if (copied) out.append(json.substr(copied));
  return out;
}

std::string with_numbers_shown(std::string json) {
  const std::string mark = absl::StrCat("{\"", std::string(kLargeNumberKey), "\":\"");
  for (std::size_t at = 0; (at = json.find(mark, at)) != std::string::npos;) {
    json.erase(at, mark.size());
    const std::size_t end = json.find("\"}", at);
    if (end == std::string::npos) break;
    json.erase(end, 2);
    at = end;
  }
  return json;
}

}  // namespace sluice::lib
