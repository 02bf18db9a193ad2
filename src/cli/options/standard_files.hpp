// SPDX-License-Identifier: Apache-2.0
// The program's standard input, output and error.
#pragma once

#include <string>

namespace sluice::lib::cli {

/// Keeps files that the program opens from becoming standard output. A closed descriptor is replaced by one that cannot
/// be written to, so that printing to it is an error.
void open_standard_files();

/// Makes printing wait for a slow reader even if the descriptor does not block, as a terminal's may not.
void make_standard_output_wait();

/// Checks that the printed text has arrived. A reader that has left is not an error.
int checked_output(int exit_status);

}  // namespace sluice::lib::cli
