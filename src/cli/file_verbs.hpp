// SPDX-License-Identifier: Apache-2.0
// The arguments of ls and cp, which are about files, whatever is in them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace sluice::lib::cli {

/// `verb` is what was typed, if it is one of these.
void add_file_verbs(CLI::App& app, std::function<int()>& verb);

}  // namespace sluice::lib::cli
