// SPDX-License-Identifier: Apache-2.0
// The exit status of the program, and errors on standard error. Every verb uses these functions, so that one cause has
// one status.
#pragma once

#include <string>
#include <string_view>

#include "sluice/base/status.hpp"

namespace sluice::lib::cli {

/// 75 (EX_TEMPFAIL of sysexits.h) for unavailable and deadline_exceeded: the same command may succeed later. 2 for
/// unimplemented: the arguments name something that sluice does not read or write. 1 for other errors; 0 for ok. Errors
/// of arguments are `misuse`, with status 2.
int exit_status_of(const status& why);
/// Returns the status of a command that has met both: 1 before 2 before 75 before 0, since only a command all of whose
/// errors may pass is worth repeating.
int more_serious(int one, int other);

/// Prints "sluice: " and the text on standard error, in bold and red on a terminal, where lines end at words.
void print_error(std::string_view text);
/// Does the same for an error of a run.
void print_error(const status& why);
/// Prints "sluice: warning: " and the text.
void print_warning(std::string_view text);

/// Prints the exception that is being handled. Returns its exit status. `why`: if not null, receives the error, or an
/// invalid_argument error for a misuse.
int report_exception(status* why = nullptr);

}  // namespace sluice::lib::cli
