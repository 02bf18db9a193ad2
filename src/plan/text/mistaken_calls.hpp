// SPDX-License-Identifier: Apache-2.0
// Messages for calls that are written as in other programs, with what to write in their place.
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/codecs/argument.hpp"
#include "sluice/element/type.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::detail {

/// Returns the argument as it was typed, if that is short.
std::string written(const argument& a);

/// Returns the name of an argument that another program's name means, or the only name that begins with `word`; empty if
/// none or several do, or the word is too short.
std::string name_meant_by(std::string_view word, const std::vector<std::string>& names);

/// Returns the argument with the place of the `=` after its name as that of its name.
argument at_equals_sign(const argument& a);

/// Returns the message with the columns of `in` in place of the * of map({*, x: 1}).
std::string with_all_columns(const misplaced& why, const argument& a, const element_type* in);

/// Returns map(id, y: id + 1) as map({id, y: id + 1}): all values of a call in braces, each with a name, and the
/// arguments that `op` has by name after them.
std::string with_fields_in_braces(const call_syntax& call, const op_info& op);

/// Returns the message for a source that only C++ programs use; empty for other calls.
std::string message_of_source_in_program(const call_syntax& call);

/// Refuses forms of a call that its arguments' types do not explain.
void check_form(const call_syntax& call, const element_type* in);

/// Returns the message for a stage after batch that expects single values, with the stages in the right order.
std::string with_stage_before_batch(const std::string& why, const call_syntax& call, const node* input);

/// Returns the message with the word that was typed, select, in place of the operator that it means, map.
std::string with_typed_word(const std::string& why, const std::string& typed, const std::string& meant);

/// An operator that combines several datasets is not a method of the first, unlike in tf.data.
std::string source_behind_stage(const call_syntax& call, const op_info& op);

}  // namespace sluice::lib::detail
