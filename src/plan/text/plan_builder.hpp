// SPDX-License-Identifier: Apache-2.0
// Calls, as text or JSON has them, to nodes: operators, functions and fields are looked up. The one place where that is done.
#pragma once

#include "plan/codecs/argument_codec.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::detail {

/// Does an operator have this name?
bool is_operator(std::string_view name);
bool is_expression_function(std::string_view name);

// Errors: all that follow throw misplaced.

/// `may_lack_path`: sources may lack what comes later, which makes the plan a reader.
node_ptr build_plan(const plan_syntax& calls, bool may_lack_path);
/// An argument that is a plan: a word or a plan in text, an object in JSON. A plan in JSON may always lack its path unless
/// told otherwise here.
node_ptr build_plan(const argument& a, bool may_lack_path);
/// The same, of stages that lack their input, which is `input`.
node_ptr build_stages(const argument& a, const node_ptr& input);

/// The registered function that an argument names: a word in text, an object in JSON. `what`: what may stand there.
function_ptr read_function(const argument& a, const reading& r, function_filter accepts, std::string_view what);
/// An expression whatever it looks like: 0, "a", {a: 1}.
function_ptr read_any_expression(const argument& a, const reading& r);

/// For whoever reads arguments.
inline constexpr reading::lookup kLookup{is_operator,   is_expression_function, build_plan,
                                         read_function, read_any_expression,    build_stages};

}  // namespace sluice::lib::detail
