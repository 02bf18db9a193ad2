// SPDX-License-Identifier: Apache-2.0
// Converts values of expressions to a required type: of a struct's member, a parameter, a state.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "expr/checking/checker.hpp"
#include "expr/checking/conversions.hpp"
#include "expr/checking/facts.hpp"
#include "expr/checking/type_limits.hpp"
#include "expr/expression_parts.hpp"

namespace sluice::lib::expressions {

namespace {

/// Returns true if each value of one type can become one of the other without loss.
bool becomes(const element_type& from, const element_type& to) {
  if (&from == &to) return true;
  if (from.kind == kind::text) return &to == &type_of<std::string>();
  if (is_sequence(from) && is_sequence(to)) {
    const bool fits = to.kind == kind::list || (from.kind == kind::array && from.extent == to.extent);
    return fits && becomes(*from.element, *to.element);
  }
  if (from.kind == kind::maybe && to.kind == kind::maybe) return becomes(*from.element, *to.element);
  if (to.kind == kind::maybe) return is_no_value(from) || becomes(from, *to.element);
  auto a = number_of(from), b = number_of(to);
  if (a == number::none || b == number::none || &type_of_number(b) != &to) return false;
  if ((a == number::boolean) != (b == number::boolean)) return false;
  return (!is_float(a) || is_float(b)) && common(a, b) == b;
}

}  // namespace

std::string way_from_none(const element_type& from, const element_type& to) {
  if (from.kind != kind::maybe || to.kind == kind::maybe) return {};
  return "; value_or(x, otherwise) replaces a missing value, and in `x != none && …` and if(x != none, …, …) x exists";
}

/// A structure that is a part of another value is limited in its size, also if it only copies.
void checker::note_structure(const expression_tree& e, const computed& c) {
  const bool is_made = e.kind == expression_tree::structure || e.kind == expression_tree::tuple;
  if (is_made && !c.type().trivially_destroyed) structures_.push_back(&e);
}

bool checker::may_fail(const expression_tree& all) const {
  return may_fail_ || structures_built(all) != structures_.size();
}

/// The number of noted structures that are the value, or its members.
std::size_t checker::structures_built(const expression_tree& e) const {
  if (e.kind != expression_tree::structure && e.kind != expression_tree::tuple) return 0;
  std::size_t built = std::ranges::count(structures_, &e) != 0;
  for (const expression_tree& part : e.parts) built += structures_built(part);
  return built;
}

computed_ptr checker::make(const expression_tree& e, const element_type& wanted) {
  const bool is_made = e.kind == expression_tree::structure || e.kind == expression_tree::tuple;
  if (is_made && wanted.has_members() && !is_no_value(wanted)) {
    computed_ptr made = structure(e, &wanted);
    may_fail_ |= expressions::may_fail(e, *made);
    note_structure(e, *made);
    return made;
  }
  if ((is_made || e.kind == expression_tree::list) && wanted.kind == kind::maybe)
    return made_optional(wanted, make(e, *wanted.element));
  const bool is_list = e.kind == expression_tree::list &&
                       (wanted.kind == kind::list || (wanted.kind == kind::array && wanted.extent == e.parts.size()));
  if (!is_list) return converted_to(e, make(e), wanted);
  std::vector<computed_ptr> parts;
  for (auto& part : e.parts) {
    parts.push_back(make(part, *wanted.element));
    if (!wanted.element->copy) fail(part, absl::StrCat(shown(*wanted.element), " cannot be copied"));
  }
  is_light_ = false;
  may_fail_ = true;
  return std::make_unique<made_list>(wanted, std::move(parts));
}

bool checker::may_become(const computed& c, const element_type& wanted) {
  if (becomes(c.type(), wanted)) return true;
  if (wanted.kind == kind::maybe) return may_become(c, *wanted.element);
  if (auto* made = dynamic_cast<const made_list*>(&c); made && is_sequence(wanted)) {
    if (wanted.kind == kind::array && wanted.extent != made->parts().size()) return false;
    return std::all_of(made->parts().begin(), made->parts().end(),
                       [&](const computed_ptr& part) { return may_become(*part, *wanted.element); });
  }
  // The value of a constant may fit.
  auto from = number_of(c.type()), to = number_of(wanted);
  if (!c.constant() || from == number::none || to == number::none || &type_of_number(to) != &wanted) return false;
  return (from == number::boolean) == (to == number::boolean) && (!is_float(from) || is_float(to));
}

computed_ptr checker::list_converted_to(const expression_tree& e, computed_ptr c, const element_type& wanted) {
  if (auto* made = dynamic_cast<made_list*>(c.get())) {
    std::vector<computed_ptr> parts = made->take_parts();
    const bool is_literal = e.kind == expression_tree::list && e.parts.size() == parts.size();
    for (std::size_t k = 0; k != parts.size(); ++k)
      parts[k] = converted_to(is_literal ? e.parts[k] : e, std::move(parts[k]), *wanted.element);
    return std::make_unique<made_list>(wanted, std::move(parts));
  }
  computed_ptr item = converted_to(e, list_items(*c->type().element), *wanted.element);
  return converted_list(wanted, std::move(c), std::move(item));
}

computed_ptr checker::converted_to(const expression_tree& e, computed_ptr c, const element_type& wanted) {
  if (&c->type() == &wanted) return c;
  may_fail_ |= conversion_may_fail(c->type(), wanted);
  if (!may_become(*c, wanted))
    fail(e, absl::StrCat("expected ", shown(wanted), ", and ", subject(e), " is ", shown(c->type()),
                         way_from_none(c->type(), wanted)));
  if (c->type().kind == kind::text && wanted.kind == kind::text) return std::make_unique<as_string>(std::move(c));
  if (wanted.kind == kind::maybe || is_sequence(wanted)) is_light_ = false;
  if (is_sequence(wanted)) return list_converted_to(e, std::move(c), wanted);
  if (wanted.kind == kind::maybe) {
    if (is_no_value(c->type())) return made_optional(wanted, nullptr);
    if (c->type().kind == kind::maybe && &c->type() != wanted.element) {
      computed_ptr item = converted_to(e, list_items(*c->type().element), *wanted.element);
      return converted_optional(wanted, std::move(c), std::move(item));
    }
    return made_optional(wanted, converted_to(e, std::move(c), *wanted.element));
  }
  return at(e, [&] { return converted(std::move(c), number_of(wanted)); });
}

}  // namespace sluice::lib::expressions
