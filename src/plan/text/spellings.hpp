// SPDX-License-Identifier: Apache-2.0
// Calls that say in one word what the plan has as several, or under another name: map_and_batch(f, 32) is read as
// map(f) | batch(32), tap(f) as inspect(f). A plan never has them: it prints as what they are read as.
//
// They are known by what stands in their parentheses alone, not by their operators, which are looked up as usual.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/codecs/argument.hpp"

namespace sluice::lib::detail {

/// Is it such a word?
bool is_spelling(std::string_view name);
/// One of all there are, for a reader: {"shuffle_and_repeat", "buffer_size, times, seed", "shuffle(buffer_size, seed) | repeat(times)"}.
struct spelling_text {
  std::string name, arguments, calls;
};
std::vector<spelling_text> all_spellings();
/// The calls that `call` is read as, each argument with the place where it stands. REQUIRES: is_spelling(call.name). Errors:
/// throws misplaced.
plan_syntax spelled_out(const call_syntax& call);
/// The same of a JSON object, whose "op" is the spelling `name`: the object of the last call, with the others as inputs.
argument spelled_out(const argument& object, std::string_view name);

}  // namespace sluice::lib::detail
