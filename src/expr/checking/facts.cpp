// SPDX-License-Identifier: Apache-2.0
#include "expr/checking/facts.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "expr/batch_parts.hpp"
#include "expr/earlier_value.hpp"
#include "expr/expression_parts.hpp"
#include "expr/functions/numbers.hpp"

namespace sluice::lib::expressions {

namespace {

/// Functions that yield a value for all arguments of their types. Sorted.
constexpr std::array<std::string_view, 26> kNeverFail{
    "atan2",     "ceil", "characters", "cos",       "ends_with", "exp",     "find",        "floor", "fmod",
    "has_value", "if",   "index",      "is_finite", "is_nan",    "is_none", "length",      "log",   "log10",
    "log1p",     "log2", "pow",        "sign",      "sin",       "sqrt",    "starts_with", "tanh"};

bool never_fails(const expression_tree& call, number result) {
  if (call.text == "random") return call.parts.empty();
  if (call.text == "float" || call.text == "double") return true;
  if (call.text == "min" || call.text == "max") return is_float(result);  // integers may not fit the common type
  return std::binary_search(kNeverFail.begin(), kNeverFail.end(), call.text);
}

/// Returns true if the part is in the memory of the element or the state, at a fixed offset.
bool is_at_fixed_place(const computed& c) {
  return dynamic_cast<const path*>(&c) || dynamic_cast<const state_path*>(&c) || dynamic_cast<const member_part*>(&c) ||
         dynamic_cast<const earlier_part*>(&c);
}

class member_reader {
 public:
  explicit member_reader(const element_type& in) : in_(in) {}

  void read(const expression_tree& e) {
    using tree = expression_tree;
    switch (e.kind) {
      case tree::name: return read_name(e.text);
      case tree::member:
        if (e.parts[0].kind == tree::name && e.parts[0].text == "it" && !is_variable("it")) return note(e.text);
        break;
      case tree::let:
        read(e.parts[0]);
        variables_.push_back(e.text);
        read(e.parts[1]);
        variables_.pop_back();
        return;
      default: break;
    }
    for (const tree& part : e.parts) read(part);
  }

  std::optional<std::vector<std::string>> names() const {
    if (reads_all_) return std::nullopt;
    return std::vector<std::string>(names_.begin(), names_.end());
  }

 private:
  bool is_variable(std::string_view name) const {
    return std::find(variables_.begin(), variables_.end(), name) != variables_.end();
  }
  void read_name(const std::string& name) {
    if (is_variable(name)) return;
    if (name == "it") reads_all_ = true;
    else note(name);
  }
  /// Names that are no members (`none`, `state`) read nothing, or the whole element.
  void note(const std::string& name) {
    for (const member& m : (in_.kind == kind::batch ? *in_.element : in_).members)
      if (m.name == name) {
        names_.insert(name);
        return;
      }
    if (name != "none" && name != "state") reads_all_ = true;
  }

  const element_type& in_;
  std::vector<std::string> variables_;
  std::set<std::string> names_;
  bool reads_all_ = false;
};

}  // namespace

bool only_copies(const computed& c) {
  if (c.type().trivially_destroyed || dynamic_cast<const path*>(&c)) return true;
  if (auto* text = dynamic_cast<const as_string*>(&c)) return only_copies(text->of());
  auto* made = dynamic_cast<const made_structure*>(&c);
  return made && std::ranges::all_of(made->parts(), [](const computed_ptr& part) { return only_copies(*part); });
}

bool may_fail(const expression_tree& e, const computed& c) {
  using tree = expression_tree;
  // An operation with a missing value yields none; with the others it is the one of their plain types.
  const number n = number_of(c.type().kind == kind::maybe ? *c.type().element : c.type());
  switch (e.kind) {
    case tree::number:
    case tree::text_:
    case tree::boolean:
    case tree::name:
    case tree::let: return c.type().kind == kind::batch || is_column(c.type());
    case tree::member:
    case tree::index: return !is_at_fixed_place(c);
    case tree::slice: return c.type().kind != kind::text;
    case tree::unary:
    case tree::binary: return n != number::boolean && !is_float(n);
    case tree::call: return !never_fails(e, n) || n == number::none;
    // Its members are checked apart. Numbers always fit; other members than copies may exceed the limit of a value.
    case tree::tuple:
    case tree::structure: return !c.type().trivially_destroyed && !only_copies(c);
    default: return true;
  }
}

bool conversion_may_fail(const element_type& from, const element_type& to) {
  if (&from == &to) return false;
  const number a = number_of(from), b = number_of(to);
  return a == number::none || b == number::none || (is_float(a) && !is_float(b)) || common(a, b) != b;
}

std::optional<std::vector<std::string>> members_read(const expression_tree& e, const element_type& in) {
  member_reader reader(in);
  reader.read(e);
  return reader.names();
}

}  // namespace sluice::lib::expressions
