// SPDX-License-Identifier: Apache-2.0
#include "engine/lowering/types.hpp"

#include <algorithm>

#include "element/text/scan_text.hpp"
#include "engine/lowering/element_specs.hpp"
#include "expr/functions/numbers.hpp"
#include "sluice/element/type_text.hpp"

namespace sluice::lib {

namespace {

bool have_equal_members(const element_type& a, const element_type& b) {
  if (a.kind != kind::structure || b.kind != kind::structure || a.members.size() != b.members.size()) return false;
  for (std::size_t k = 0; k != a.members.size(); ++k)
    if (a.members[k].name != b.members[k].name || a.members[k].type != b.members[k].type) return false;
  return !a.members.empty();
}

/// Returns `| map({label, text})`, which removes the names of structures with equal members. Returns "" if an
/// expression cannot name all members, or if there are too many.
std::string made_nameless(const element_type& t) {
  constexpr std::size_t kShownMax = 16;
  if (t.members.size() > kShownMax) return {};
  std::string out;
  for (const member& m : t.members) {
    if (!detail::is_identifier(m.name) || m.name == "it") return {};
    out += (out.empty() ? "" : ", ") + m.name;
  }
  return "| map({" + out + "})";
}

using expressions::number, expressions::number_of, expressions::type_of_number;

/// Returns the number type that has the values of both types: the other conversions would lose fractions or large
/// numbers. Returns number::none if there is none.
number number_for_both(const element_type& a, const element_type& b) {
  const number one = number_of(a), other = number_of(b);
  if (one == number::none || other == number::none) return number::none;
  if (expressions::is_float(one) || expressions::is_float(other))
    return expressions::is_float(one) && expressions::is_float(other) ? std::max(one, other) : number::f64;
  const bool is_one_signed = one < number::u8, is_other_signed = other < number::u8;
  if (is_one_signed == is_other_signed) return std::max(one, other);
  return one == number::u64 || other == number::u64 ? number::none : number::i64;
}

/// Returns the stage that gives the elements of input `index`, which have type `b`, the type `a`; empty: none is known.
std::string way_to_one_type(const element_type& a, const element_type& b, std::size_t index) {
  auto is_number = [](const element_type& t) { return t.kind == kind::scalar && &t != &type_of<bool>(); };
  const std::string input = "input " + std::to_string(index);
  const std::string before = index == 2 ? "input 1" : "the inputs 1 to " + std::to_string(index - 1);
  if (b.kind == kind::batch && b.element == &a) return "; put `| unbatch` after " + input;
  if (a.kind == kind::batch && a.element == &b) return "; put `| unbatch` after the first input";
  if (a.kind == kind::text && is_number(b)) return "; put `| map(string(it))` after " + input;
  if (is_number(a) && b.kind == kind::text) return "; put `| map(string(it))` after " + before;
  const number both = is_number(a) && is_number(b) ? number_for_both(a, b) : number::none;
  if (both == number::none) return {};
  const std::string stage = "; put `| map(" + type_text(type_of_number(both)) + "(it))` after ";
  return stage + (both == number_of(a) ? input : both == number_of(b) ? before : "all inputs");
}

/// `a`: the type of the first input. `b`: the type of input `number`.
std::string difference_of_types(const element_type& a, const element_type& b, std::size_t number) {
  const std::string first = type_text(a), other = type_text(b);
  std::string why =
      "the inputs must have one type, and input " + std::to_string(number) + " gives " + other +
      (first == other ? ", which is another class than the first input's" : " where the first gives " + first);
  if (!have_equal_members(a, b)) return why + way_to_one_type(a, b, number);
  const std::string way = made_nameless(a);
  const bool a_named = !a.name.starts_with('{'), b_named = !b.name.starts_with('{');
  if (way.empty()) return why + "; their members are the same, the names of the structures are not";
  why += "; put `" + way + "` after ";
  if (a_named && b_named) return why + "both";
  return why + (a_named ? "the first" : "input " + std::to_string(number));
}

/// Returns true if the type has tensors.
bool leaves_dtypes_open(const element_type& t) {
  if (t.kind == kind::tensor) return true;
  if (t.element && leaves_dtypes_open(*t.element)) return true;
  return std::ranges::any_of(t.members, [](const member& m) { return leaves_dtypes_open(*m.type); });
}

/// Returns why the tensors of the inputs have no common dtype; "" if they have one, or if it is not known before a run.
std::string difference_of_dtypes(const node& n, std::size_t inputs) {
  spec all = element_spec_of(*n.inputs[0]);
  for (std::size_t i = 1; i != inputs; ++i) {
    const spec other = element_spec_of(*n.inputs[i]);
    result<spec> both = merge(all, other);
    if (!both.ok())
      return "the inputs have one type, and input " + std::to_string(i + 1) + " gives " + other.text() +
             " where the first gives " + all.text() + "; cast(x, \"float32\") in a map changes a dtype";
    all = *std::move(both);
  }
  return {};
}

}  // namespace

const element_type* same_type(const node& n, std::string&) { return n.inputs[0]->type; }

const element_type* type_of_inputs(const node& n, std::size_t inputs, std::string& why) {
  const element_type* type = n.inputs[0]->type;
  for (std::size_t i = 1; i != inputs; ++i) {
    if (n.inputs[i]->type == type) continue;
    why = difference_of_types(*type, *n.inputs[i]->type, i + 1);
    return nullptr;
  }
  if (leaves_dtypes_open(*type)) why = difference_of_dtypes(n, inputs);
  return why.empty() ? type : nullptr;
}

const element_type* type_of_function(const node& n, const function_ptr& f, std::string& why) {
  if (!n.inputs.empty() && f->in != n.inputs[0]->type) {
    why = "expects " + f->in->name + ", and gets " + n.inputs[0]->type->name;
    return nullptr;
  }
  return f->out;
}

const element_type* type_of_inner(const node& n, const plan_or_function& inner, std::string& why) {
  if (!inner.plan) return type_of_function(n, inner.function, why);
  if (!n.inputs[0]->type->text) {
    why = "a reader takes paths (strings), and gets " + n.inputs[0]->type->name;
    return nullptr;
  }
  return inner.plan->type;
}

void note_order(stage_facts& f, order o) {
  if (o == order::deterministic) return;
  f.keeps_order = false;
  f.is_live = true;
  f.has_record = true;  // the order that it has chosen
}

}  // namespace sluice::lib
