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

/// Returns true if a required argument can only be a function, or data, that this program cannot have registered. No
/// plan for this program can contain the operator.
bool needs_program(const op_info& op);

/// Returns a script for `shell` (bash, zsh or fish). It completes verbs, options, their values if they are few, files,
/// and at the beginning of a stage the names of the operators that a plan for this program can contain. Throws misuse
/// for another shell.
std::string completion_script(const CLI::App& app, const std::string& shell);

/// Returns the manual page of section 1, in the man macros of roff.
std::string manual_page(const CLI::App& app, const std::string& version);

}  // namespace sluice::lib::cli
