// SPDX-License-Identifier: Apache-2.0
// Calls that users of tables and of TensorFlow write, and that are calls of other verbs with other arguments:
// select(a, b) is map({a, b}), sample(0.1) is filter(random() < 0.1), and range(1, 61) is range(61, start=1).
#pragma once

#include <list>
#include <optional>
#include <string>

#include "plan/codecs/argument.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib::detail {

/// Returns the call that is meant, or nothing if the call is none of these. `in`: the type of the elements before it, for
/// messages; null: unknown. `texts`: stores the texts of its arguments, and must live as long as the call. Errors:
/// misplaced: the arguments have no meaning.
std::optional<call_syntax> call_of_table_word(const call_syntax& call, const element_type* in,
                                              std::list<std::string>& texts);

}  // namespace sluice::lib::detail
