// SPDX-License-Identifier: Apache-2.0
// Suggests the word that the user may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib::detail {

/// Returns "; did you mean shuffle?", or an empty text if no known word is similar.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace sluice::lib::detail
