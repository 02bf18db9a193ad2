// SPDX-License-Identifier: Apache-2.0
// JSON as a tree of what stands there: numbers as they are spelled, so that each is read once, as what its type wants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib::detail {

struct json_tree {
  enum kind_type { null, boolean, number, string, array, object } kind = null;
  std::string text{};                ///< "true" and "false"; the number; the string
  std::vector<std::string> names{};  ///< of an object's members
  std::vector<json_tree> items{};    ///< of an array or an object

  const json_tree* find(std::string_view name) const;
  /// What it is, for errors: 12, "x", "an array of 3".
  std::string shown() const;
};

inline constexpr std::size_t kJsonTreeDepthMax = 256;

/// Errors: throws invalid_argument: not JSON, with line and column; deeper than kJsonTreeDepthMax; an object with a name twice.
json_tree read_json_tree(std::string_view text);

}  // namespace sluice::lib::detail
