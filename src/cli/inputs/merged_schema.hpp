// SPDX-License-Identifier: Apache-2.0
// One schema for several files that are read as one table.
#pragma once

#include <string>
#include <vector>

#include "cli/inputs/format_options.hpp"

namespace sluice::lib::cli {

/// Returns the arguments with the schema that the files have in common, if they have the same format, which is CSV or
/// JSON lines, and no schema is given. Columns are found by their names; one that a file lacks is optional. Blocks.
/// Errors: throws those of the files; invalid_argument: a column has unlike values in two files, which it names.
format_arguments with_merged_schema(const std::vector<std::string>& files, const format_arguments& a);

}  // namespace sluice::lib::cli
