// SPDX-License-Identifier: Apache-2.0
// Plans as JSON, for services and files:
// {"op":"shuffle","fields":{"buffer_size":10,"seed":7},"inputs":[{"op":"range",…}]}. Only what differs from the
// defaults is written. Functions go by name and version; both must match when read.
#pragma once

#include <string>
#include <string_view>

#include "sluice/plan/node.hpp"

namespace sluice {

/// Errors: `error`, failed_precondition: a stage holds a lambda.
std::string plan_json(const node& n);
/// Errors: `error`, invalid_argument: not JSON (with the byte), an unknown operator, field or function …
node_ptr parse_plan_json(std::string_view json);

}  // namespace sluice
