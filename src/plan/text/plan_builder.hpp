// SPDX-License-Identifier: Apache-2.0
// Builds nodes from the calls of text or JSON. Only this file looks up operators, functions and fields.
#pragma once

#include "plan/codecs/argument_codec.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::detail {

/// Returns true if an operator has this name.
bool is_operator(std::string_view name);
bool is_expression_function(std::string_view name);

// Errors: all functions below throw misplaced.

/// `may_lack_path`: sources may lack arguments that come later, which makes the plan a reader.
node_ptr build_plan(const plan_syntax& calls, bool may_lack_path);
/// Builds a plan from an argument: a word or a plan in text, an object in JSON. `may_lack_path`: as above.
node_ptr build_plan(const argument& a, bool may_lack_path);
/// Builds stages that lack their input, with `input` as that input.
node_ptr build_stages(const argument& a, const node_ptr& input);

/// Returns the registered function that an argument names: a word in text, an object in JSON. `what`: the description
/// of the accepted values.
function_ptr read_function(const argument& a, const reading& r, function_filter accepts, std::string_view what);
/// Reads any argument as an expression: 0, "a", {a: 1}.
function_ptr read_any_expression(const argument& a, const reading& r);

/// For code that reads arguments.
inline constexpr reading::lookup kLookup{is_operator,   is_expression_function, build_plan,
                                         read_function, read_any_expression,    build_stages};

}  // namespace sluice::lib::detail
