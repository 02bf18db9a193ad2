// SPDX-License-Identifier: Apache-2.0
// Makes unique member names from the column names of a file or a query.
#pragma once

#include <string>
#include <vector>

namespace sluice::lib {

/// Names that occur once stay unchanged. Column k becomes "c<k>" if it has no name, and gets the suffix "_<k>" if an
/// earlier column has its name. The suffix is repeated until no column has the result as its name.
std::vector<std::string> distinct_names(const std::vector<std::string>& names);

}  // namespace sluice::lib
