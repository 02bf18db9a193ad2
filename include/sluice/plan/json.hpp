// SPDX-License-Identifier: Apache-2.0
// Plans as JSON, for services and files:
//
//   {"op":"shuffle","arguments":{"buffer_size":10,"seed":7},"inputs":[{"op":"range","arguments":{"stop":5}}]}
//   {"op":"map","arguments":{"function":{"name":"parse","version":3},"parallelism":4},"inputs":[…]}
//   {"op":"interleave","arguments":{"inner":{"op":"lines"}},"inputs":[…]}
//
// Arguments go by name, and only those that differ from the defaults. Functions go by name and version; both must match when
// read. A text that is not UTF-8 goes as a list of its bytes, an optional value that is not there as null.
// What earlier versions wrote is read until 1.0: "fields", "text", "function" and "reader" beside "op".
// Limits: kPlanBytesMax bytes (plan/text.hpp), kPlanDepthMax stages below each other. Costs: linear.
#pragma once

#include <string>
#include <string_view>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Errors: `error`, failed_precondition: a stage holds a lambda.
std::string plan_json(const node& n);
/// Errors: `error`, invalid_argument: not JSON (with line and column), or what is wrong with which of the plans inside:
/// "batch: has no siz (it has size, drop_remainder) (at inputs[0].arguments.inner)".
node_ptr parse_plan_json(std::string_view json);

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::parse_plan_json;
using lib::plan_json;

}  // namespace sluice
