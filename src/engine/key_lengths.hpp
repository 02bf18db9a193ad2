// SPDX-License-Identifier: Apache-2.0
// Lengths that a user's function gives, as keys: what bucket_by_sequence_length and batch_by_tokens measure elements by.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/engine/functions.hpp"

namespace sluice::lib {

/// A key's code is its bytes, the highest first, a sign turned over (engine/keys.hpp).
inline std::int64_t length_of_code(std::string_view code, bool is_signed) {
  std::uint64_t bits = 0;
  for (char c : code) bits = bits << 8 | static_cast<unsigned char>(c);
  if (!is_signed) return static_cast<std::int64_t>(bits < INT64_MAX ? bits : INT64_MAX);
  const std::uint64_t sign = std::uint64_t{1} << (8 * code.size() - 1);
  return static_cast<std::int64_t>((bits ^ sign) - ((bits ^ sign) & sign ? sign << 1 : 0));
}
inline bool is_signed_number(const element_type& t) { return t.name[0] != 'u'; }

/// Empty, or why what the function gives is no length.
inline std::string length_mistake(const function_ptr& f) {
  const element_type* length = f->out;
  if (length && (length->kind != kind::scalar || length == &type_of<bool>()))
    return "the length must be a whole number, and is " + length->name;
  return {};
}

inline status negative_length(std::int64_t length) {
  return invalid_argument_error("a length is not negative, and this one is " + std::to_string(length));
}

}  // namespace sluice::lib
