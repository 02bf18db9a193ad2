// SPDX-License-Identifier: Apache-2.0
// The files that an expression names: the tables of lookup().
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib {

/// The paths in the order of the text, `lookup(it, "words.txt")` has one. Empty if the text is no expression.
std::vector<std::string> files_read_by_expression(std::string_view text);

}  // namespace sluice::lib
