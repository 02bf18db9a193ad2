// SPDX-License-Identifier: Apache-2.0
// JSON as far as plans use it, in memory: what is read in one pass, before any operator is looked up.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/plan/node.hpp"

namespace sluice::lib::detail {

struct json_value {
  enum kind_type { null, boolean, number, string, object, list, bytes } kind = null;
  std::string text{};  ///< of a boolean or number: as it is spelled; of a string or bytes: what it holds
  std::vector<std::pair<std::string, json_value>> members{};  ///< of an object, as they come
  std::vector<json_value> items{};                            ///< of a list: objects only

  /// For messages: "5", "\"five\"", "an object", "a list".
  std::string shown() const;
};

/// Objects and lists inside each other: a plan's stages stand two below each other.
inline constexpr std::size_t kJsonDepthMax = 2 * kPlanDepthMax + 4;

/// A list is of objects, or of numbers up to 255, which are bytes; an empty one is a list. No other occurs in a plan.
/// Errors: `error`, invalid_argument: not JSON (with line and column), too deep, too long, another list.
/// Costs: linear in the text; values take up to some forty times as much memory.
json_value read_json(std::string_view text);

}  // namespace sluice::lib::detail
