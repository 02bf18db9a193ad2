// SPDX-License-Identifier: Apache-2.0
// From argv to a verb, and from what it throws to an exit status.
#pragma once

namespace sluice::lib::cli {

/// The program. Errors are one line on standard error, "sluice: …".
int run_command_line(int argc, char** argv);

}  // namespace sluice::lib::cli
