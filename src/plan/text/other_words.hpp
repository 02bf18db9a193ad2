// SPDX-License-Identifier: Apache-2.0
// The verbs of other programs, and examples of calls, for messages.
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "plan/codecs/argument.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib::detail {

/// Returns what is written in place of a call whose verb is of another program, as the end of a message: "; it is
/// unique()". The advice contains the call's own arguments, and the columns of `in`, the type of the elements before it
/// (null: unknown). Empty if no such verb is known.
std::string way_to_verb(const call_syntax& call, const element_type* in);

/// Returns the fields of `in` as they are written in braces: "id, `first name`, city"; `otherwise` if it has none, or
/// more than a message can show.
std::string columns_in_braces(const element_type* in, std::string_view otherwise);

/// Returns the fields of `in` other than `name`, which may be in backticks.
std::string columns_except(const element_type* in, std::string_view name);

/// Returns the call as it was typed.
std::string text_of_call(const call_syntax& call);

/// Returns a call of the verb with its required arguments, such as batch(32); empty if none is known. `in`: the type of
/// its input, whose fields the example contains; null: unknown. `first`: the argument that was typed; empty: none.
std::string example_of_call(std::string_view verb, const element_type* in, std::string_view first);

/// Returns the message for unique(city) and distinct(city), which take no columns; empty if the call has none.
std::string message_of_columns(const call_syntax& call, const element_type* in);
/// Returns the message for group_by(city, ok, {n: count()}), which takes one key; empty if the call has one key.
std::string message_of_keys(const call_syntax& call);

/// Returns "group_by" for "groupBy".
std::string with_underscores(std::string_view name);

/// Returns the message with `plan`, in the quotes of a shell, in place of 'PLAN'. A plan that is too long to show, or not
/// a whole one, is described instead.
std::string with_plan(std::string message, std::string_view plan);

/// Returns the plan that reads the file: csv("a.csv", header=true). The name's suffix decides.
std::string source_reading(std::string_view path);

}  // namespace sluice::lib::detail
