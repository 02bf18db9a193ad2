// SPDX-License-Identifier: Apache-2.0
// What plan text looks like before any operator is looked up.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/plan/node.hpp"

namespace sluice::lib::detail {

struct call_syntax;
using plan_syntax = std::vector<call_syntax>;  ///< calls joined by bars

struct argument_syntax {
  enum kind_type { word, number, quoted, plan } kind = word;
  std::size_t column = 0;  ///< of the value
  std::size_t name_column = 0;
  std::string name;   ///< empty: given by position
  std::string text;   ///< of a word, number or string
  plan_syntax calls;  ///< of a plan, and of a word, which may be one
};

struct call_syntax {
  std::size_t column = 0;
  std::string name;
  std::vector<argument_syntax> arguments{};
};

/// Plans inside plans that a text may have: as many as a plan may have stages below each other, so that any plan that
/// can be made can be read again.
inline constexpr std::uint32_t kNestingMax = kPlanDepthMax;

/// Errors: plan_error.
plan_syntax read_syntax(std::string_view text);

}  // namespace sluice::lib::detail
