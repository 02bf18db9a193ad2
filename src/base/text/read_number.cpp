// SPDX-License-Identifier: Apache-2.0
#include "base/text/read_number.hpp"

#include <algorithm>

namespace sluice::lib {
namespace {

constexpr std::size_t kDigitsOfUint64 = 20;  // of 2^64
constexpr std::int64_t kExponentMost = std::int64_t{1} << 60;

void move_digits(std::string_view& s, std::string& to) {
  const auto end = std::find_if_not(s.begin(), s.end(), detail::is_digit);
  const auto n = static_cast<std::size_t>(end - s.begin());
  to.append(s.substr(0, n));
  s.remove_prefix(n);
}

/// Returns false if `s` is no exponent. An exponent beyond all numbers becomes the largest one.
bool read_exponent(std::string_view s, std::int64_t& to) {
  if (s.starts_with('+') && !s.starts_with("+-")) s.remove_prefix(1);
  const number_text found = read_digits(s, to);
  if (found == number_text::out_of_range) to = s.starts_with('-') ? -kExponentMost : kExponentMost;
  to = std::clamp(to, -kExponentMost, kExponentMost);
  return found != number_text::malformed;
}

}  // namespace

bool decimal_number::read(std::string_view s) {
  is_negative = s.starts_with('-');
  if (is_negative) s.remove_prefix(1);
  move_digits(s, digits);
  const std::size_t whole = digits.size();
  if (s.starts_with('.')) {
    s.remove_prefix(1);
    move_digits(s, digits);
  }
  if (digits.empty()) return false;
  if (s.starts_with('e') || s.starts_with('E')) {
    if (!read_exponent(s.substr(1), exponent)) return false;
  } else if (!s.empty()) {
    return false;
  }
  exponent -= static_cast<std::int64_t>(digits.size() - whole);
  while (digits.ends_with('0')) {
    digits.pop_back();
    ++exponent;
  }
  digits.erase(0, digits.find_first_not_of('0'));
  return true;
}

number_text decimal_number::whole_digits(std::string& to) const {
  to = "0";
  if (digits.empty()) return number_text::read;
  if (exponent < 0) return number_text::not_whole;
  if (digits.size() > kDigitsOfUint64 || exponent > static_cast<std::int64_t>(kDigitsOfUint64 - digits.size()))
    return number_text::out_of_range;
  to = (is_negative ? "-" : "") + digits + std::string(static_cast<std::size_t>(exponent), '0');
  return number_text::read;
}

}  // namespace sluice::lib
