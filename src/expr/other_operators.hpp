// SPDX-License-Identifier: Apache-2.0
// The operators of other languages, for messages.
#pragma once

#include <string>
#include <string_view>

namespace sluice::lib::expressions {

/// Returns " (write &&)" for `and`; an empty text for words that are no operators elsewhere.
std::string instead_of_operator(std::string_view word);

}  // namespace sluice::lib::expressions
