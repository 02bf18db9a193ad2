// SPDX-License-Identifier: Apache-2.0
// The text of an error on standard error.
#pragma once

#include <string>
#include <string_view>

namespace sluice::lib::cli {

/// Returns `words` without secrets of URLs and without control characters (which file names and servers may contain),
/// and with the same width in columns. If a deadline passed, names the option that sets it.
std::string message_text(std::string_view words);

}  // namespace sluice::lib::cli
