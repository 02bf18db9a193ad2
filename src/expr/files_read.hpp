// SPDX-License-Identifier: Apache-2.0
// Finds the files that an expression names: the tables of lookup().
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib {

/// Returns the paths in the order of the text; `lookup(it, "words.txt")` has one. Empty if the text is not an
/// expression.
std::vector<std::string> files_read_by_expression(std::string_view text);

}  // namespace sluice::lib
