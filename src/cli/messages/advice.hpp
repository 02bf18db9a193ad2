// SPDX-License-Identifier: Apache-2.0
// What to type after an error of data or files, which the library, knowing no command line, cannot say.
#pragma once

#include <string>

#include "sluice/base/status.hpp"

namespace sluice::lib::cli {

/// Returns the end of the message: "; --on-error skip drops such elements", "; did you mean people.csv?", the plan that
/// reads a file of another format. Empty: none. May read the beginning of a local file.
std::string advice_for(const status& why);

}  // namespace sluice::lib::cli
