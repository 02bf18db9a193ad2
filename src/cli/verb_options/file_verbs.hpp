// SPDX-License-Identifier: Apache-2.0
// The arguments of ls and cp, which handle files whatever their contents, and of verbs about the program and its runs.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/inputs/reading.hpp"

namespace sluice::lib::cli {

/// Sets `verb` if one of these verbs was typed. `reading`: its reading options, which are known by then.
void add_file_verbs(CLI::App& app, reading_arguments& reading, std::function<int()>& verb);
/// The same for top, doctor and man.
void add_program_verbs(CLI::App& app, std::function<int()>& verb);

}  // namespace sluice::lib::cli
