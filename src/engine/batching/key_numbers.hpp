// SPDX-License-Identifier: Apache-2.0
// Keys that are whole numbers, decoded from their codes: lengths, classes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/element/type.hpp"

namespace sluice::lib {

/// Returns true if a key of this type is a whole number.
inline bool is_whole_number(const element_type& t) { return t.kind == kind::scalar && &t != &type_of<bool>(); }
inline bool is_signed_number(const element_type& t) { return t.name[0] != 'u'; }

/// Returns the number of a code (key_function::numbers) whose type has `bytes` bytes. Numbers above INT64_MAX become
/// INT64_MAX.
inline std::int64_t number_of_code(std::uint64_t bits, std::size_t bytes, bool is_signed) {
  if (!is_signed) return static_cast<std::int64_t>(std::min<std::uint64_t>(bits, INT64_MAX));
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
  return static_cast<std::int64_t>((bits ^ sign) - ((bits ^ sign) & sign ? sign << 1 : 0));
}

/// Decodes the bytes of a code: the highest first, and a sign inverted (sluice/engine/keys.hpp).
inline std::int64_t number_of_code(std::string_view code, bool is_signed) {
  std::uint64_t bits = 0;
  for (char c : code) bits = bits << 8 | static_cast<unsigned char>(c);
  return number_of_code(bits, code.size(), is_signed);
}

/// Returns the code of this number, for a type of `bytes` bytes.
inline std::string code_of_number(std::uint64_t bits, std::size_t bytes) {
  std::string code(bytes, '\0');
  for (std::size_t i = bytes; i--; bits >>= 8) code[i] = static_cast<char>(bits);
  return code;
}

}  // namespace sluice::lib
