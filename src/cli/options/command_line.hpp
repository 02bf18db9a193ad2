// SPDX-License-Identifier: Apache-2.0
// Parses argv, runs the verb, and converts its exceptions to an exit status.
#pragma once

namespace sluice::lib::cli {

/// Runs the program. Errors are one line on standard error, "sluice: …".
int run_command_line(int argc, char** argv);

}  // namespace sluice::lib::cli
