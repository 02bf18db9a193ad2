// SPDX-License-Identifier: Apache-2.0
// The arguments of ls and cp, which are about files, whatever is in them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/inputs/reading.hpp"

namespace sluice::lib::cli {

/// `verb` is what was typed, if it is one of these.
/// `reading`: how it reads, which is known by then.
void add_file_verbs(CLI::App& app, reading_arguments& reading, std::function<int()>& verb);

}  // namespace sluice::lib::cli
