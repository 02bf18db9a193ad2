// SPDX-License-Identifier: Apache-2.0
// Calls that users of tables and of TensorFlow write, and that are calls of other verbs with other arguments:
// select(a, b) is map({a, b}), sample(0.1) is filter(random() < 0.1), and range(1, 61) is range(61, start=1).
#pragma once

#include <list>
#include <optional>
#include <string>

#include "plan/codecs/argument.hpp"

namespace sluice::lib::detail {

/// Returns the call that is meant, or nothing if the call is none of these. `texts`: stores the texts of its arguments,
/// and must live as long as the call. Errors: misplaced: the arguments have no meaning.
std::optional<call_syntax> call_of_table_word(const call_syntax& call, std::list<std::string>& texts);

}  // namespace sluice::lib::detail
