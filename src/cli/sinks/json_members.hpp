// SPDX-License-Identifier: Apache-2.0
// Selects members of a JSON object from its text, so that numbers and escapes keep their spelling.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::lib::cli {

/// Returns the members of the object `json`, as (name with its escapes, value), in order; empty for other values.
/// `json` must be valid JSON, as print() and example_to_json() produce it. The views refer to it.
std::vector<std::pair<std::string_view, std::string_view>> members_of_json(std::string_view json);

/// Returns the items of the array `json`, in order; empty for other values.
std::vector<std::string_view> items_of_json(std::string_view json);

/// Returns the value at `path`, which has names with dots between them: "user.name". Returns an empty view if no such
/// value exists. A name that contains dots itself is matched as a whole first.
std::string_view json_at(std::string_view json, std::string_view path);

}  // namespace sluice::lib::cli
