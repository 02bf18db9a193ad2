// SPDX-License-Identifier: Apache-2.0
// Suggests the word that the user may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib::detail {

/// "; did you mean shuffle?", or empty where nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace sluice::lib::detail
