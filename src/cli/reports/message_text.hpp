// SPDX-License-Identifier: Apache-2.0
// The text of an error on standard error.
#pragma once

#include <string>
#include <string_view>

namespace sluice::lib::cli {

/// `words` without secrets of URLs and without control characters (which file names and servers may bring along), as many
/// columns wide as before; and of a deadline that passed, which option sets it.
std::string message_text(std::string_view words);

}  // namespace sluice::lib::cli
