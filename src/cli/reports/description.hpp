// SPDX-License-Identifier: Apache-2.0
// Other forms of the command line's description: completion for shells, and the manual page.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace sluice::lib {
struct op_info;
}

namespace sluice::lib::cli {

/// It takes nothing but a function, or data, and none that is registered here: no plan for this program can have it.
bool needs_program(const op_info& op);

/// A script for `shell` (bash, zsh or fish) that completes verbs, options, their values where they are few, names of
/// operators at the begin of a stage that a plan for this program can have, and files where a file is taken. Throws misuse for
/// another shell.
std::string completion_script(const CLI::App& app, const std::string& shell);

/// The manual page of section 1, in the man macros of roff.
std::string manual_page(const CLI::App& app, const std::string& version);

}  // namespace sluice::lib::cli
