// SPDX-License-Identifier: Apache-2.0
// The text of --help: verbs and options in groups, examples, and lines that end at words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace sluice::lib::cli {

/// Returns a command line of the verb that works; empty for other words.
std::string example_of(const std::string& verb);
/// Returns the names of all verbs, in the order of the help: "head, cat, …".
std::string list_of_verbs();
/// Sorts verbs and options into groups, and adds the examples. Call it when all verbs are added. REQUIRES: each verb has an
/// entry in the table of the help.
void add_help(CLI::App& app);

}  // namespace sluice::lib::cli
