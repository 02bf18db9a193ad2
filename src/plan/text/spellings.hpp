// SPDX-License-Identifier: Apache-2.0
// Calls that abbreviate several calls of a plan, or rename one: map_and_batch(f, 32) is read as map(f) | batch(32),
// tap(f) as inspect(f). A plan never contains them: it prints the calls that they abbreviate.
//
// The table lists only their arguments. The operators that they use are looked up as usual.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/codecs/argument.hpp"

namespace sluice::lib::detail {

/// Returns true if this name is a spelling.
bool is_spelling(std::string_view name);
/// A spelling for the documentation: {"shuffle_and_repeat", "buffer_size, times, seed", "shuffle(buffer_size, seed) |
/// repeat(times)"}.
struct spelling_text {
  std::string name, arguments, calls;
};
std::vector<spelling_text> all_spellings();
/// Returns the calls that `call` abbreviates, each argument with its position. REQUIRES: is_spelling(call.name).
/// Errors: throws misplaced.
plan_syntax spelled_out(const call_syntax& call);
/// Does the same for a JSON object whose "op" is the spelling `name`. Returns the object of the last call, with the
/// others as its inputs.
argument spelled_out(const argument& object, std::string_view name);

}  // namespace sluice::lib::detail
