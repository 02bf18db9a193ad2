// SPDX-License-Identifier: Apache-2.0
// Plans as JSON, for services and files:
//
//   {"op":"shuffle","arguments":{"buffer_size":10,"seed":7},"inputs":[{"op":"range","arguments":{"stop":5}}]}
//   {"op":"map","arguments":{"function":{"name":"parse","version":3},"parallelism":4},"inputs":[…]}
//   {"op":"interleave","arguments":{"inner":{"op":"lines"}},"inputs":[…]}
//
// Arguments are written by name, unless they have their default value. Functions are written with name and version;
// both must match when the plan is read. A text that is not UTF-8 is a list of its bytes, an optional value that is not
// set is null. The format of earlier versions ("fields", "text", "function" and "reader" beside "op") is read until
// 1.0.
// Limits: kPlanBytesMax bytes (plan/text.hpp), chains and nesting of kPlanDepthMax operators.
// Cost:   linear in the size of the plan.
#pragma once

#include <string>
#include <string_view>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Errors: throws failed_precondition: the plan contains a lambda or elements in memory.
std::string plan_json(const node& n);
/// Errors: throws invalid_argument: not JSON (with line and column), or a mistake in the plan, with its place:
/// "batch: has no siz (it has size, drop_remainder) (at inputs[0].arguments.inner)".
node_ptr parse_plan_json(std::string_view json);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::parse_plan_json;
using lib::plan_json;

}  // namespace sluice
