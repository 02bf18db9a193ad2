// SPDX-License-Identifier: Apache-2.0
// Builds the forms of users' functions that stages call from expressions: shared parts, functions with a state, and
// keys. by_expression_text.cpp has the other forms, and chooses one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "expr/program.hpp"
#include "expr/tree.hpp"
#include "sluice/element/spec.hpp"
#include "sluice/element/value.hpp"
#include "sluice/engine/detail/functions.hpp"
#include "sluice/expr/expression.hpp"

namespace sluice::lib {

/// The version of the language. Increase it when an expression yields other values than before.
inline constexpr int kExpressionLanguageVersion = 3;

/// Finds registered functions, and records what a checkpoint must contain of them.
class functions_used final : public callables {
 public:
  std::vector<std::string> names() const override { return function_names(); }
  std::vector<std::shared_ptr<const callable>> named(std::string_view name, std::string& why) override;
  void note_call(const callable& called) override;
  void note_value(std::uint64_t hash) override { values_ = derive(values_, hash); }
  std::uint64_t values() const { return values_; }
  bool values_known() const { return values_known_; }
  /// Returns the facts that hold for all functions called.
  const function_facts& facts() const { return facts_; }

 private:
  std::uint64_t values_ = 0;
  bool values_known_ = true;
  function_facts facts_ = {.concurrent = true, .pure = true, .may_fail = false};
};

/// A function of each form that an expression can have. They are only used to find the forms that a stage accepts.
struct expression_probes {
  const stage_function &map, &filter, &scan, &reduce, &key, &rank, &aggregates, &look, &opens;
};
const expression_probes& probes_of_expressions();

/// A program, and the functions that it calls.
struct compiled_expression {
  functions_used used;
  std::unique_ptr<program> p;
  /// Errors: expression_error.
  compiled_expression(const expression& e, const element_type& in, const element_type* wanted = nullptr,
                      const expression_scope& scope = {})
      : p(std::make_unique<program>(e, in, used, wanted, scope)) {}
};

/// Returns the spec of the expression's value for an element with the spec `in`; `out`: the type of the value.
spec spec_of_expression(const expression_tree& e, const element_type& out, const spec& in);

/// The facts of a call, with the errors of the expression itself; and the members of the element that it reads.
function_facts facts_of(const compiled_expression& c);
names_read members_read_by(const compiled_expression& c);

/// Sets f's description: its names, types and text.
void describe_expression(stage_function& f, const expression& e, const compiled_expression& c, const element_type* out);

/// Returns the value of a plan's initial state, as a `wanted` value if that type is known. Errors: expression_error.
value value_of_initial(const expression& e, const element_type* wanted);
/// Returns a state_function whose state begins as `initial`, of type `wanted` if that is known. Errors:
/// expression_error.
function_ptr make_expression_state(const expression& step, const expression& initial, const element_type& in,
                                   const element_type* wanted, bool makes_elements);
/// Returns a look_function, which computes the expression and drops its value. Errors: expression_error.
function_ptr make_expression_look(const expression& e, const element_type& in);
/// Returns a plan_function that opens the elements of the expression's list, of type `wanted` if that is known. `map`:
/// the expression as a map's function. Errors: expression_error.
function_ptr make_expression_list(const expression& e, const element_type& in, const element_type* wanted,
                                  function_ptr map);
/// Returns a key_function. Errors: expression_error.
function_ptr make_expression_key(const expression& e, const element_type& in);
/// A rank_function. Errors: expression_error.
function_ptr make_expression_rank(const expression& e, const element_type& in);
/// An aggregate_function; `wanted`: the type of the stage's elements, if it is known. Errors: expression_error.
function_ptr make_expression_aggregates(const expression& e, const element_type& in, const element_type* wanted);
/// Returns the name of the column that an expression is, and of the last member of a.b.c; empty if it is something else.
std::string column_named_by(const stage_function& f);
/// Returns the mistake of a key or rank that is a text in quotes, and so the same for every element, where the name of a
/// column is meant: group_by("city", …). Returns an empty string for other functions. `argument`: its name.
std::string text_for_column(const stage_function& f, std::string_view argument);

}  // namespace sluice::lib
