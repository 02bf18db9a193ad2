// SPDX-License-Identifier: Apache-2.0
// Patterns in place of file names: cat, count, verify and convert accept s3://bucket/day-*/*.csv, as ls and cp do. The
// shell has already replaced local patterns that were not quoted.
#pragma once

#include <string>
#include <vector>

#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::cli {

/// Returns true for a pattern (*, ?, […], **), unless a file has that very name. HTTP cannot list files, and in its
/// URLs a ? begins a query.
bool is_file_pattern(const std::string& name);
/// Does the same for a text that may be a plan. Plans have parentheses, quotes or bars, and are not patterns.
bool is_file_pattern_and_no_plan(const std::string& text);

/// Replaces each name that `is_pattern` by the files that match it, sorted and without folders. Blocks. Errors: throws
/// not_found: nothing matches; the errors of listing.
std::vector<std::string> matched_files(runtime& rt, const std::vector<std::string>& names,
                                       bool (*is_pattern)(const std::string&) = is_file_pattern);

}  // namespace sluice::lib::cli
