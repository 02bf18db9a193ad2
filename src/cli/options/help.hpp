// SPDX-License-Identifier: Apache-2.0
// The text of --help: verbs and options in groups, examples, and lines that end at words.
#pragma once

#include <CLI/CLI.hpp>

namespace sluice::lib::cli {

/// Sorts verbs and options into groups, and adds the examples. Call it when all verbs are added.
void add_help(CLI::App& app);

}  // namespace sluice::lib::cli
