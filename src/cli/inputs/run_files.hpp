// SPDX-License-Identifier: Apache-2.0
// Checks that the files that a run reads and those it writes all differ. An output that is also an input would replace
// that input. Bad elements written under the output's name would be lost when the output takes that name.
#pragma once

#include <string>
#include <vector>

#include "cli/inputs/reading.hpp"
#include "cli/sinks/output_choice.hpp"
#include "cli/verbs.hpp"

namespace sluice::lib::cli {

/// Throws misuse if two of these are one file: the output, the checkpoint, a file for bad elements, and a file that the
/// plan reads (an input, a lookup table, the file of its text). Also throws misuse if one of them is the `.partial`
/// file or the lock of another.
void check_run_files(const node& plan, const run_arguments& a, const output_options& output);

/// Takes the locks of the files for bad elements, so that no other process writes them while the result lives. Throws
/// misuse if one is a file that the plan reads. Throws `error` if one is unsuitable: it is not a regular file, has other
/// contents, cannot be created, or is used by another process. Creates no file but the locks.
quarantine_locks lock_quarantines(const node& plan, const error_arguments& a);

}  // namespace sluice::lib::cli
