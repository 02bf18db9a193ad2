// SPDX-License-Identifier: Apache-2.0
// The rules of missing values: tests for presence, operations on optionals, && and || of three values, and the types of
// optionals where a test has shown that they exist.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "expr/checking/checker.hpp"
#include "expr/checking/conversions.hpp"
#include "expr/checking/type_limits.hpp"
#include "expr/comparison.hpp"

namespace sluice::lib::expressions {

bool checker::is_none_literal(const expression_tree& e) const {
  return e.kind == expression_tree::name && e.text == "none" && (scope_.is_constant || !means_something(e.text));
}

computed_ptr checker::make_optional(const expression_tree& e) {
  std::vector<std::string> existing = std::exchange(existing_, {});
  computed_ptr c = make(e);
  existing_ = std::move(existing);
  return c;
}

computed_ptr checker::presence(const expression_tree& e, const expression_tree& of, bool wanted) {
  computed_ptr c = make_optional(of);
  if (c->type().kind == kind::maybe) return value_exists(std::move(c), wanted);
  if (is_no_value(c->type())) return literal::of(!wanted);
  fail(e, absl::StrCat(e.text, " none tests an optional value, and ", subject(of), " is ", shown(c->type()),
                       ", which is never none"));
}

computed_ptr checker::as_condition(computed_ptr c) {
  const element_type& t = c->type();
  return t.kind == kind::maybe && t.element == &type_of<bool>() ? none_as_false(std::move(c)) : std::move(c);
}

std::vector<optional_operand> checker::begin_lifting(std::vector<computed_ptr>& parts) {
  std::vector<optional_operand> optionals;
  for (computed_ptr& part : parts) {
    if (part->type().kind != kind::maybe) continue;
    const element_type& item = *part->type().element;
    const element_type& value = item.kind == kind::text ? type_of<std::string>() : item;
    const std::size_t number = variables_made_++;
    optionals.push_back({std::exchange(part, std::make_unique<variable_part>(value, number)), number});
  }
  return optionals;
}

computed_ptr checker::end_lifting(const expression_tree& e, std::vector<optional_operand> optionals,
                                  computed_ptr value) {
  const element_type* t = &value->type();
  if (t->kind != kind::maybe) {
    const element_type& own = t->kind == kind::text ? type_of<std::string>() : *t;
    need_small_type(e, {&own}, 1);
    t = maybe_of(&own);
    if (!t || !own.copy)
      fail(e, absl::StrCat(shown(e), " may be none, and there are no optionals of ", shown(value->type())));
  }
  return lifted(*t, std::move(optionals), std::move(value));
}

computed_ptr checker::logical(const expression_tree& e) {
  const bool is_and = e.text == "&&";
  computed_ptr a = make(e.parts[0]);
  computed_ptr b = make_where(e.parts[0], is_and, e.parts[1]);
  bool is_missing = false;  // either may be
  for (computed_ptr* part : {&a, &b}) {
    const element_type& t = (*part)->type();
    const bool is_optional = t.kind == kind::maybe && t.element == &type_of<bool>();
    if (is_no_value(t)) *part = made_optional(*maybe_of(&type_of<bool>()), nullptr);
    else if (number_of(t) != number::boolean && !is_optional) refuse_operands(e, *a, *b, "two bools");
    is_missing |= number_of((*part)->type()) != number::boolean;
  }
  if (is_missing) return both_of_three(std::move(a), std::move(b), is_and);
  return both(std::move(a), std::move(b), is_and);
}

// --- Optionals that a test has shown to exist. ---

/// Returns a text that is equal for two expressions only if both are the same part of the element, the state or a
/// variable; empty if `e` is none of these.
std::string checker::place_of(const expression_tree& e) const {
  if (e.kind == expression_tree::member) {
    std::string of = place_of(e.parts[0]);
    return of.empty() ? of : absl::StrCat(of, ".", e.text);
  }
  if (e.kind != expression_tree::name) return {};
  if (e.text == "it") return "it";
  for (std::size_t k = variables_.size(); k-- != 0;)
    if (variables_[k].name == e.text) return absl::StrCat("variable ", variables_[k].number);
  if (scope_.state && e.text == "state") return "state";
  return absl::StrCat("it.", e.text);
}

computed_ptr checker::narrowed(const expression_tree& e, computed_ptr c) const {
  if (existing_.empty() || c->type().kind != kind::maybe) return c;
  const std::string place = place_of(e);
  if (std::find(existing_.begin(), existing_.end(), place) == existing_.end()) return c;
  return existing_value(std::move(c));
}

/// Adds the optionals that exist wherever the condition is not false (if `holds`), or not true. A test for presence is
/// never none, so this is also correct if the condition is none.
void checker::add_existing(const expression_tree& condition, bool holds, std::vector<std::string>& places) const {
  auto add = [&](const expression_tree& of) {
    if (std::string place = place_of(of); !place.empty()) places.push_back(std::move(place));
  };
  if (condition.kind == expression_tree::unary && condition.text == "!")
    return add_existing(condition.parts[0], !holds, places);
  if (condition.kind == expression_tree::call && condition.parts.size() == 1) {
    if (condition.text == (holds ? "has_value" : "is_none")) add(condition.parts[0]);
    return;
  }
  if (condition.kind != expression_tree::binary) return;
  if (condition.text == (holds ? "&&" : "||"))
    for (auto& part : condition.parts) add_existing(part, holds, places);
  if (condition.text != (holds ? "!=" : "==")) return;
  for (std::size_t k = 0; k != 2; ++k)
    if (is_none_literal(condition.parts[k])) add(condition.parts[1 - k]);
}

computed_ptr checker::make_where(const expression_tree& condition, bool holds, const expression_tree& e) {
  const std::size_t before = existing_.size();
  add_existing(condition, holds, existing_);
  computed_ptr c = make(e);
  existing_.resize(before);
  return c;
}

}  // namespace sluice::lib::expressions
