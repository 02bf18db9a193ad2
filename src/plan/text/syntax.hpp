// SPDX-License-Identifier: Apache-2.0
// Reads plan text into a syntax tree before any operator is looked up.
#pragma once

#include <string_view>

#include "plan/codecs/argument.hpp"

namespace sluice::lib::detail {

/// Nested plans, lists and braces may be as deep as the stages of a plan (plan/plan_depth.hpp), so that any plan that
/// can be built can be read again. The tree holds views of `text`, which must outlive it.
/// Errors: plan_error.
plan_syntax read_syntax(std::string_view text);

}  // namespace sluice::lib::detail
