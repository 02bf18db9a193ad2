// SPDX-License-Identifier: Apache-2.0
// A plan as it was typed.
#pragma once

#include <string>

#include "sluice/plan/node.hpp"

namespace sluice::cli {

/// Errors: misuse: the words of the plan_error, the line it is on (of a long one, what is around) and a caret
/// under its column; for what looks like a path instead, a plan that reads it.
node_ptr plan_of(const std::string& text);

/// The plan that reads this file: TFRecords where it begins as one (compressed or not), else lines.
std::string plan_reading(const std::string& file);
bool is_file(const std::string& path);

}  // namespace sluice::cli
