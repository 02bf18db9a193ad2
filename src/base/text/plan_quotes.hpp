// SPDX-License-Identifier: Apache-2.0
// Texts in double quotes, as plan text and expressions write them.
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace sluice::lib::detail {

/// Appends the text in quotes. Quotes, backslashes and control characters are escaped: \n, \t, \r, \x1b.
void append_in_quotes(std::string_view text, std::string& out);
std::string in_quotes(std::string_view text);

}  // namespace sluice::lib::detail
