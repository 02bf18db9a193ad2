// SPDX-License-Identifier: Apache-2.0
// Converts a syntax tree to typed parts. If types do not match, the error names the column and both types.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expr/functions/numbers.hpp"
#include "expr/nullable.hpp"
#include "expr/program.hpp"
#include "expr/tree.hpp"
#include "sluice/element/dtype.hpp"

namespace sluice::lib::expressions {

class path;
struct function_arguments;

class checker {
 public:
  /// Returns true for a text that is the name of a column.
  bool is_name_in_quotes(const expression_tree& e) const {
    return e.kind == expression_tree::text_ &&
           std::ranges::any_of(in_.members, [&](const member& m) { return m.name == e.text; });
  }
  checker(const element_type& in, callables& functions, const expression_scope& scope = {})
      : in_(in), functions_(functions), scope_(scope), variables_made_(scope.first_variable) {}

  /// Returns the part that computes `e`.
  computed_ptr make(const expression_tree& e);
  /// Returns the part that computes `e` as a value of the type `wanted`.
  computed_ptr make(const expression_tree& e, const element_type& wanted);

  [[noreturn]] static void fail(const expression_tree& e, std::string_view what);
  /// Calls f, and converts a bad_value that it throws to an error of `e`.
  template <class F> static auto at(const expression_tree& e, F f) {
    try {
      return f();
    } catch (const bad_value& bad) { fail(e, bad.why); }
  }

  /// Returns true if values of c can become `wanted` without loss, or if c is a constant, whose value may fit.
  static bool may_become(const computed& c, const element_type& wanted);

  /// Returns all rows of a batch, the value of `e`, as one list or tensor. Errors: no list of such rows exists.
  computed_ptr column_alone(const expression_tree& e, computed_ptr batch);
  /// Returns c, the value of `e`, converted to the type. Errors: the conversion is not allowed.
  computed_ptr converted_to(const expression_tree& e, computed_ptr c, const element_type& wanted);
  /// Errors: a type built from these would be too large (type_limits.hpp).
  void need_small_type(const expression_tree& e, const std::vector<const element_type*>& parts,
                       std::size_t names) const;

  std::size_t variables() const { return variables_made_; }
  bool draws() const { return draws_; }
  /// Returns true if the value may depend on the element's number.
  bool uses_place() const { return uses_place_; }
  /// Returns true unless every element has a value. Calls of registered functions are not considered.
  /// `all`: the expression that was made.
  bool may_fail(const expression_tree& all) const;
  /// Returns true if all parts are numbers or parts of the element itself.
  bool is_light() const { return is_light_; }
  /// Returns true if the same holds for all parts except structures of such parts.
  bool has_light_members() const { return has_light_members_; }
  /// Returns true if all parts of the element that are read are numbers, texts, or optionals of these.
  bool reads_columns() const;
  /// Returns c, or, if it is an optional bool, a bool that is false where c is none.
  static computed_ptr as_condition(computed_ptr c);
  /// Returns `e` as an optional, also where a test has shown that its value exists.
  computed_ptr make_optional(const expression_tree& e);
  /// Calls `make_value` with the parts; a part that is an optional is replaced by its value. If one is, the result is an
  /// optional, which is none where a part is none. `e`: the operation, for messages.
  template <class F> computed_ptr lift(const expression_tree& e, std::vector<computed_ptr> parts, F make_value) {
    std::vector<optional_operand> optionals = begin_lifting(parts);
    const bool is_plain = optionals.empty();
    computed_ptr value = make_value(std::move(parts));
    return is_plain ? std::move(value) : end_lifting(e, std::move(optionals), std::move(value));
  }
  template <class F> computed_ptr lift_one(const expression_tree& e, computed_ptr part, F make_value) {
    std::vector<computed_ptr> parts;
    parts.push_back(std::move(part));
    return lift(e, std::move(parts),
                [&](std::vector<computed_ptr> values) { return make_value(std::move(values[0])); });
  }

  /// Records that the values depend on data outside the text.
  void note_value(std::uint64_t hash) { functions_.note_value(hash); }
  /// Errors: the element's ordinal is unknown at `e`.
  void need_place(const expression_tree& e);
  /// Returns the number of a call of random() within the expression.
  std::uint64_t note_draw() {
    draws_ = true;
    return ++draw_calls_;
  }
  /// Lets the root move the parts that nothing else in the expression reads. Errors: a value must be copied and cannot
  /// be.
  void let_move(computed& root) const;

 private:
  struct variable {
    std::string name;
    const element_type* type;
    std::size_t number;  ///< no other variable of the expression has it
  };
  computed_ptr made(const expression_tree& e);
  computed_ptr path_to(const element_type& t, std::size_t offset);
  void note_copy(const expression_tree& e, const computed& c);
  computed_ptr name(const expression_tree& e);
  [[noreturn]] void refuse_name(const expression_tree& e, bool may_be_text) const;
  void refuse_text_without_quotes(const expression_tree& e, const computed& other) const;
  bool means_something(std::string_view name) const;
  static const element_type& common_optional(const element_type& a, const element_type& b);
  computed_ptr member_of(const expression_tree& e);
  computed_ptr member_in(const expression_tree& e, computed_ptr of);
  computed_ptr column_of(const expression_tree& e, computed_ptr batch);
  computed_ptr index(const expression_tree& e);
  computed_ptr index_in(const expression_tree& e, computed_ptr of, computed_ptr k);
  computed_ptr slice(const expression_tree& e);
  computed_ptr slice_in(const expression_tree& e, std::vector<computed_ptr> parts);
  computed_ptr let(const expression_tree& e);
  computed_ptr unary(const expression_tree& e);
  computed_ptr unary_in(const expression_tree& e, computed_ptr of);
  computed_ptr binary(const expression_tree& e);
  computed_ptr binary_in(const expression_tree& e, computed_ptr a, computed_ptr b);
  [[noreturn]] void refuse_operands(const expression_tree& e, const computed& a, const computed& b,
                                    std::string_view what) const;
  computed_ptr logical(const expression_tree& e);
  computed_ptr presence(const expression_tree& e, const expression_tree& of, bool wanted);
  bool is_none_literal(const expression_tree& e) const;
  std::vector<optional_operand> begin_lifting(std::vector<computed_ptr>& parts);
  computed_ptr end_lifting(const expression_tree& e, std::vector<optional_operand> optionals, computed_ptr value);
  computed_ptr narrowed(const expression_tree& e, computed_ptr c) const;
  computed_ptr make_where(const expression_tree& condition, bool holds, const expression_tree& e);
  std::string place_of(const expression_tree& e) const;
  void add_existing(const expression_tree& condition, bool holds, std::vector<std::string>& places) const;
  computed_ptr structure(const expression_tree& e, const element_type* wanted);
  void note_structure(const expression_tree& e, const computed& c);
  std::size_t structures_built(const expression_tree& e) const;
  computed_ptr list(const expression_tree& e);
  computed_ptr call(const expression_tree& e);
  computed_ptr built_in_call(const expression_tree& e, computed_ptr (*make_it)(function_arguments&));
  computed_ptr registered(const expression_tree& e);
  computed_ptr called_with(const expression_tree& e, const std::shared_ptr<const callable>& f,
                           std::vector<computed_ptr> parts);
  computed_ptr list_converted_to(const expression_tree& e, computed_ptr c, const element_type& wanted);
  computed_ptr condition(const expression_tree& e);

  const element_type& in_;
  callables& functions_;
  expression_scope scope_;
  std::vector<variable> variables_;
  std::vector<std::string> existing_;  ///< the optionals that exist where the present part is computed (place_of)
  std::size_t variables_made_ = 0;
  bool draws_ = false;
  bool uses_place_ = false;
  bool may_fail_ = false;                             ///< apart from structures_
  std::vector<const expression_tree*> structures_{};  ///< those that copy texts or lists
  bool is_light_ = true;
  bool has_light_members_ = true;
  std::uint64_t draw_calls_ = 0;
  std::shared_ptr<std::vector<path*>> paths_ = std::make_shared<std::vector<path*>>();  ///< all paths of the expression
  struct needed_copy {
    const expression_tree* e;
    const computed* part;
  };
  std::vector<needed_copy> needed_copies_;
};

/// Returns what is written in place of a name, or of a call, of another language: "; a missing value is none". Empty for
/// other words.
std::string way_to_name(std::string_view name);
std::string way_to_function(const expression_tree& call);
/// Returns what is written in place of a call with too many values, if leaving out some of them would change the result:
/// "; write round(x * 10) / 10". Empty: nothing is known.
std::string way_to_fewer(checker& check, const expression_tree& call, const std::vector<computed_ptr>& parts);
/// Returns how `written`, a value of this type, becomes a condition: "; compare it, as in id != 0". Empty: in no way.
std::string way_to_condition(const std::string& written, const element_type& type);
/// Returns how `written`, a value of this type, becomes the argument that a function expects: "a text", "a number".
/// Empty: in no way that is known.
/// "; over all rows it is group_by(true, {x: mean(score)})" where a list is expected, and the function aggregates rows, too.
std::string way_over_rows(std::string_view function, std::string_view expected, const std::string& column);
std::string way_to_argument(std::string_view function, std::string_view expected, const std::string& written,
                            const element_type& type);
/// Returns how a value of an optional becomes a value of another type, for messages; empty for other types.
std::string way_from_none(const element_type& from, const element_type& to);

/// The arguments of a built-in function.
struct function_arguments {
  checker& check;
  const expression_tree& e;
  std::vector<computed_ptr> parts;

  std::size_t count() const { return parts.size(); }
  [[noreturn]] void fail(std::string_view what) const { checker::fail(e, e.text + ": " + std::string(what)); }
  /// "length: expects a text, and gets int64", at the argument's column.
  [[noreturn]] void expected(std::size_t k, std::string_view what) const;
  void need(std::size_t least, std::size_t most) const;
  number number_at(std::size_t k) const { return number_of(parts[k]->type()); }
  /// The k-th argument, as a number of this type.
  computed_ptr as(std::size_t k, number n);
  computed_ptr text(std::size_t k);
  /// The k-th argument, which must have items.
  computed_ptr list(std::size_t k);
  computed_ptr boolean(std::size_t k);
};
using make_built_in = computed_ptr (*)(function_arguments&);
/// Returns null if no function has this name.
make_built_in find_built_in(std::string_view name);
std::vector<std::string> built_in_names();

// The tables of the sources that define the functions.
struct built_in {
  std::string_view name;
  make_built_in make;
};
extern const std::vector<built_in>& number_functions();
extern const std::vector<built_in>& text_functions();
extern const std::vector<built_in>& list_functions();
extern const std::vector<built_in>& tensor_functions();
extern const std::vector<built_in>& json_functions();

// Operations on tensors: a + b, in which one operand may be a number; -t; t[k]; t[a:b]; sum(), mean(), max(), min() and
// argmax().
computed_ptr tensor_arithmetic(char op, computed_ptr a, computed_ptr b);
computed_ptr tensor_item(computed_ptr of, computed_ptr index);
computed_ptr tensor_slice(computed_ptr of, computed_ptr first, computed_ptr last);
computed_ptr tensor_negated(computed_ptr of);
/// Builds a tensor from nested lists of numbers or texts. `dims`: the required shape, -1 for any length; empty: any
/// shape.
/// `function`: for errors.
computed_ptr tensor_of_lists(std::string_view function, computed_ptr lists, dtype d,
                             const std::vector<std::int64_t>& dims);
computed_ptr tensor_reduction(function_arguments& a);
/// Returns the number of a tensor that contains one, as the type; it is truncated and checked as converted() does.
computed_ptr number_in_tensor(computed_ptr of, const element_type& wanted);
/// Returns the position of a slice's bound in a list of n. Negative bounds count from the end, and bounds beyond the
/// list are clamped.
std::size_t bound_of(std::int64_t k, std::size_t n);

// Conditions, which compute their parts only for some of the elements.
computed_ptr choose(computed_ptr condition, computed_ptr a, computed_ptr b);
computed_ptr both(computed_ptr a, computed_ptr b, bool is_and);

}  // namespace sluice::lib::expressions
