// SPDX-License-Identifier: Apache-2.0
// Plan text to what it looks like before any operator is looked up.
#pragma once

#include <string_view>

#include "plan/argument.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::detail {

/// Plans, lists and braces inside each other that a text may have: as many as a plan may have stages below
/// each other, so that any plan that can be made can be read again.
inline constexpr std::uint32_t kNestingMax = kPlanDepthMax;

/// Errors: plan_error.
plan_syntax read_syntax(std::string_view text);

}  // namespace sluice::lib::detail
