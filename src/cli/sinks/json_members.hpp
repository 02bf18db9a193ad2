// SPDX-License-Identifier: Apache-2.0
// Some members of a JSON object, cut out of its text, so that numbers and escapes stay as they were printed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::lib::cli {

/// The members of the object that `json` is, as (name with its escapes, value), in order; empty for anything else. `json`
/// must be valid JSON, as print() and example_to_json() make it; the views are into it.
std::vector<std::pair<std::string_view, std::string_view>> members_of_json(std::string_view json);

/// The items of the array that `json` is, in order; empty for anything else.
std::vector<std::string_view> items_of_json(std::string_view json);

/// The value at `path`, names with dots between them: "user.name"; empty where there is none. A name that itself holds
/// dots is found as a whole first.
std::string_view json_at(std::string_view json, std::string_view path);

}  // namespace sluice::lib::cli
