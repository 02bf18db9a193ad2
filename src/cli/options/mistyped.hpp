// SPDX-License-Identifier: Apache-2.0
// Command lines that are almost right: the verb `describe`, which is declared here, and the messages for mistyped verbs
// and options.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/inputs/format_options.hpp"
#include "cli/inputs/reading.hpp"

namespace sluice::lib::cli {

struct describe_arguments {
  std::string plan;       ///< or a file, a FIFO, "-"
  std::string plan_file;  ///< if not empty, the file that contains the plan
  format_arguments format = {};
  reading_arguments reading = {};
  error_arguments errors = {};
};
/// Prints the columns of a plan or a file: types, missing values, least and greatest values; and the number of rows.
int describe(const describe_arguments& arguments);
/// Sets `verb` if describe was typed. `reading`, `errors`: the options, which are known by then.
void add_describe(CLI::App& app, reading_arguments& reading, error_arguments& errors, std::function<int()>& verb);

/// Returns the arguments, with `-5` of head, cat and select in place of which they have `-n 5` or `--limit 5`.
std::vector<std::string> usual_arguments(int argc, char** argv);
/// Returns the message for arguments that are refused: it names the mistyped verb or option, and the one that is meant.
std::string message_of_mistake(const CLI::App& app, const std::vector<std::string>& arguments,
                               const CLI::ParseError& mistake);

}  // namespace sluice::lib::cli
