// SPDX-License-Identifier: Apache-2.0
// The text of an expression as it was before files moved.
#pragma once

#include <string>
#include <string_view>

#include "sluice/runtime/input_rules.hpp"

namespace sluice::lib {

/// Changes each text in quotes that is a path in a new folder: `read_file("/new/" + name)`.
std::string expression_before(const path_rebases& moves, std::string_view expression);

}  // namespace sluice::lib
