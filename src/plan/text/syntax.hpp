// SPDX-License-Identifier: Apache-2.0
// Plan text to what it looks like before any operator is looked up.
#pragma once

#include <string_view>

#include "plan/codecs/argument.hpp"

namespace sluice::lib::detail {

/// Plans, lists and braces inside each other may be as deep as a plan may have stages below each other
/// (plan/plan_depth.hpp), so that any plan that can be made can be read again.
/// Errors: plan_error.
plan_syntax read_syntax(std::string_view text);

}  // namespace sluice::lib::detail
