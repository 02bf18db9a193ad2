// SPDX-License-Identifier: Apache-2.0
// Operators that accept an expression instead of a function. They are separate from the operators' own sources, so that
// programs without expressions do not link the evaluation of expressions.
#include <utility>

#include "sluice/op/batch_by_tokens.hpp"
#include "sluice/op/bucket_by_sequence_length.hpp"
#include "sluice/op/drop_while.hpp"
#include "sluice/op/filter.hpp"
#include "sluice/op/group_by_reducer.hpp"
#include "sluice/op/group_by_window.hpp"
#include "sluice/op/inspect.hpp"
#include "sluice/op/map.hpp"
#include "sluice/op/reduce.hpp"
#include "sluice/op/scan.hpp"
#include "sluice/op/take_while.hpp"

namespace sluice::lib {

preserving drop_while(expression condition, drop_while_options o) {
  return {drop_while_op, arguments::of(drop_while_arguments{expression_function(std::move(condition)), o})};
}

preserving filter(expression condition, filter_options o) {
  return {filter_op, arguments::of(filter_arguments{expression_function(std::move(condition)), o})};
}

arguments group_by_expressions(expression key, expression initial, expression step, const element_type& state) {
  group_by_reducer_arguments a;
  a.key.value = expression_function(std::move(key));
  a.initial.value = expression_function(std::move(initial), {}, &state);
  a.function.value = expression_function(std::move(step), {}, &state);
  return arguments::of(std::move(a));
}

preserving inspect(expression e) {
  return {inspect_op, arguments::of(inspect_arguments{expression_function(std::move(e))})};
}
preserving tap(expression e) { return inspect(std::move(e)); }

arguments map_by_expression(expression e, const element_type& wanted, map_options o) {
  return arguments::of(map_arguments{expression_function(std::move(e), {}, &wanted), o});
}

arguments reduce_by_expression(expression initial, expression step, const element_type& state) {
  reduce_arguments a;
  a.initial.value = expression_function(std::move(initial), {}, &state);
  a.function.value = expression_function(std::move(step), {}, &state);
  return arguments::of(std::move(a));
}

arguments scan_by_expression(expression initial, expression step, const element_type& state) {
  scan_arguments a;
  a.initial.value = expression_function(std::move(initial), {}, &state);
  a.function.value = expression_function(std::move(step), {}, &state);
  return arguments::of(std::move(a));
}

preserving take_while(expression condition, take_while_options o) {
  return {take_while_op, arguments::of(take_while_arguments{expression_function(std::move(condition)), o})};
}

namespace detail {

function_ptr tokens_by_expression(const expression& length) { return expression_function(length); }

function_ptr length_by_expression(const expression& length) { return expression_function(length); }

function_ptr grouping_by_expression(const expression& e) { return expression_function(e); }

}  // namespace detail
}  // namespace sluice::lib
