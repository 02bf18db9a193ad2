// SPDX-License-Identifier: Apache-2.0
// A comparison of a member of the element with a literal, which a condition requires: "x > 3", "name == \"a\"". A source may
// know of some elements, without reading them, that they do not satisfy it (op_facts::excluded).
#pragma once

#include <cstdint>
#include <string>

namespace sluice::lib {

struct member_comparison {
  enum operator_type : std::uint8_t { less, less_equal, equal, greater_equal, greater } op = equal;
  enum literal_type : std::uint8_t { whole, real, text } literal = whole;
  std::string member{};  ///< empty: the element itself
  std::int64_t whole_value = 0;
  double real_value = 0;
  std::string text_value{};

  bool operator==(const member_comparison&) const = default;
};

}  // namespace sluice::lib
