// SPDX-License-Identifier: Apache-2.0
// Characters of the texts that the library reads.
#pragma once

namespace sluice::lib::detail {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// Returns true for a letter or _.
constexpr bool starts_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
/// Returns the value of a hexadecimal digit; -1 if c is not one.
constexpr int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace sluice::lib::detail
