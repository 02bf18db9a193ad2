// SPDX-License-Identifier: Apache-2.0
// Patterns where files are named: cat, count, verify and convert take s3://bucket/day-*/*.csv as ls and cp do. A shell has
// replaced the local ones by then, if they were not quoted.
#pragma once

#include <string>
#include <vector>

#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::cli {

/// Is it a pattern (*, ?, […], **), and no file of that very name? Over HTTP nothing can be listed, and a ? begins a query.
bool is_file_pattern(const std::string& name);
/// The same for a text that may be a plan: plans have parentheses, quotes or bars, and are not patterns.
bool is_file_pattern_and_no_plan(const std::string& text);

/// Each name that `is_pattern` replaced by the files that match it, sorted; without folders. Blocks.
/// Errors: throws not_found: nothing matches; and what listing fails with.
std::vector<std::string> matched_files(runtime& rt, const std::vector<std::string>& names,
                                       bool (*is_pattern)(const std::string&) = is_file_pattern);

}  // namespace sluice::lib::cli
