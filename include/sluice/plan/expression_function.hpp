// SPDX-License-Identifier: Apache-2.0
// Expressions as the functions of stages.
//
//   rows | filter(expr("label != 0 && length(text) > 10"))
//   rows | map(expr<double>("mean(values)"))                     // the C++ type of the new elements
//   rows | map(expr<pair_of_ids>("{first: id, second: label}"))  // a struct, filled by the names of its members
//   rows | reduce(expr<double>("0"), expr("state + label"))      // `state`: the value for the previous element
//
// sluice/expr/expression.hpp and docs/expressions.md describe the language. Unlike a lambda, an expression is printed
// with the plan, and is part of its fingerprint.
// Errors: throws expression_error when it is parsed (grammar) and when the plan is built (types).
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "sluice/expr/expression.hpp"
#include "sluice/plan/function.hpp"

namespace sluice::lib {

/// A function that make_node() binds to the type of its elements. `otherwise`: the error message if the expression is a
/// single unknown name; `wanted`: the type of its values, if it is known. Defined in
/// engine/expressions/by_expression_text.cpp.
function_ptr expression_function(expression e, std::string otherwise = {}, const element_type* wanted = nullptr);

/// An expression whose values have the C++ type U.
template <class U> struct typed_expression {
  using value_type = U;
  expression value;
};

namespace detail {
/// The elements of a stage whose function is a typed_expression<U>.
template <class U> struct becomes {
  template <class> using of = U;
};
}  // namespace detail

inline expression expr(std::string_view text) { return expression(text); }
template <class U> typed_expression<U> expr(std::string_view text) { return {expression(text)}; }

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::expr;
using lib::expression;
using lib::expression_error;

}  // namespace sluice
