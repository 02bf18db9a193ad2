// SPDX-License-Identifier: Apache-2.0
// Calls that say in one word what the plan has as several, or under another name: map_and_batch(f, 32) is read as
// map(f) | batch(32), tap(f) as inspect(f). A plan never has them: it prints as what they are read as.
//
// They are known by what stands in their parentheses alone, not by their operators, which are looked up as usual.
#pragma once

#include <string_view>

#include "plan/argument.hpp"

namespace sluice::lib::detail {

/// Is it such a word?
bool is_spelling(std::string_view name);
/// The calls that `call` is read as, each argument with the place where it stands. REQUIRES: is_spelling(call.name). Errors:
/// throws misplaced.
plan_syntax spelled_out(const call_syntax& call);
/// The same of a JSON object, whose "op" is the spelling `name`: the object of the last call, with the others as inputs.
argument spelled_out(const argument& object, std::string_view name);

}  // namespace sluice::lib::detail
