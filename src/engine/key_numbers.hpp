// SPDX-License-Identifier: Apache-2.0
// Keys that are whole numbers, read from their codes: lengths, classes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "sluice/element/type.hpp"

namespace sluice::lib {

/// Is a key of this type a whole number?
inline bool is_whole_number(const element_type& t) { return t.kind == kind::scalar && &t != &type_of<bool>(); }
inline bool is_signed_number(const element_type& t) { return t.name[0] != 'u'; }

/// A code is the number's bytes, the highest first, a sign turned over (sluice/engine/keys.hpp). Numbers above INT64_MAX are that.
inline std::int64_t number_of_code(std::string_view code, bool is_signed) {
  std::uint64_t bits = 0;
  for (char c : code) bits = bits << 8 | static_cast<unsigned char>(c);
  if (!is_signed) return static_cast<std::int64_t>(std::min<std::uint64_t>(bits, INT64_MAX));
  const std::uint64_t sign = std::uint64_t{1} << (8 * code.size() - 1);
  return static_cast<std::int64_t>((bits ^ sign) - ((bits ^ sign) & sign ? sign << 1 : 0));
}

}  // namespace sluice::lib
