// SPDX-License-Identifier: Apache-2.0
// Messages for arguments that a verb lacks, or has too many of.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace sluice::lib::cli {

/// Returns the message for arguments that are missing. `plain`: CLI11's, "PLAN or --file is required".
std::string missing_argument(const CLI::App& verb, const std::vector<std::string>& arguments, const std::string& plain);
/// Returns the message for arguments that the verb does not accept.
std::string surplus_arguments(const CLI::App& verb, const std::vector<std::string>& arguments);

}  // namespace sluice::lib::cli
