// SPDX-License-Identifier: Apache-2.0
// Names of members for columns whose names a file or a query says.
#pragma once

#include <string>
#include <vector>

namespace sluice::lib {

/// Column k without a name becomes "c<k>"; one whose name came before has "_<k>" behind it, more than once where there is a column
/// of that name. Names that come once stay as they are.
std::vector<std::string> distinct_names(const std::vector<std::string>& names);

}  // namespace sluice::lib
