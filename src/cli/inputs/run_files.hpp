// SPDX-License-Identifier: Apache-2.0
// The files that a run reads and those it writes: no file may be two of them. An output that is one of the plan's inputs would be
// replaced by what was made of it, and bad elements that are kept under the output's name would be gone when it takes that name.
#pragma once

#include <string>
#include <vector>

#include "cli/inputs/reading.hpp"
#include "cli/sinks/output_choice.hpp"
#include "cli/verbs.hpp"

namespace sluice::lib::cli {

/// Throws misuse if two of these are one file: the output, the checkpoint, a file for bad elements, and a file that the plan reads
/// (an input, a lookup table, the file of its text); or if one of them is the `.partial` file or the lock of another.
void check_run_files(const node& plan, const run_arguments& a, const output_options& output);

/// Throws misuse if bad elements would be kept in a file that the plan reads. Throws `error` if they cannot be kept there: it is no
/// regular file, a file of something else, or cannot be created. Creates nothing.
void check_quarantines(const node& plan, const error_arguments& a);

}  // namespace sluice::lib::cli
