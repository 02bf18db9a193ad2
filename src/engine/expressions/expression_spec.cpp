// SPDX-License-Identifier: Apache-2.0
// Derives the spec of an expression's value: a part that is copied from the element keeps its shape.
#include <algorithm>
#include <charconv>

#include "engine/expressions/expression_forms.hpp"
#include "expr/tree.hpp"

namespace sluice::lib {
namespace {

// Returns a pointer, not a copy: a spec may have 100,000 parts, and an expression may name thousands.

const spec* part_called(const spec& s, const std::string& name) {
  const bool has_names = s.form == spec::form_type::structure && s.shape.empty() && !s.any_shape;
  const auto at = std::find(s.names.begin(), s.names.end(), name);
  if (!has_names || at == s.names.end()) return nullptr;
  return &s.parts[static_cast<std::size_t>(at - s.names.begin())];
}

const spec* part_number(const spec& s, const expression_tree& index) {
  if (s.form != spec::form_type::tuple || !s.shape.empty() || s.any_shape) return nullptr;
  std::size_t k = 0;
  const char* const end = index.text.data() + index.text.size();
  auto [read, why] = std::from_chars(index.text.data(), end, k);
  if (index.kind != expression_tree::number || why != std::errc() || read != end || k >= s.parts.size()) return nullptr;
  return &s.parts[k];
}

/// Returns the spec of an expression that is the element, or a part of it; null if it is neither.
const spec* spec_of_path(const expression_tree& e, const spec& in) {
  if (e.kind == expression_tree::name) return e.text == "it" ? &in : part_called(in, e.text);
  if (e.kind != expression_tree::member && e.kind != expression_tree::index) return nullptr;
  const spec* of = spec_of_path(e.parts[0], in);
  if (!of) return nullptr;
  return e.kind == expression_tree::member ? part_called(*of, e.text) : part_number(*of, e.parts[1]);
}

}  // namespace

spec spec_of_expression(const expression_tree& e, const element_type& out, const spec& in) {
  spec of_type = spec_of(out);
  const bool is_nest = e.kind == expression_tree::structure || e.kind == expression_tree::tuple;
  if (is_nest && out.members.size() == e.parts.size() && of_type.parts.size() == e.parts.size()) {
    for (std::size_t k = 0; k != e.parts.size(); ++k)
      of_type.parts[k] = spec_of_expression(e.parts[k], *out.members[k].type, in);
    return of_type;
  }
  const spec* known = spec_of_path(e, in);
  return known && holds(of_type, *known) ? *known : of_type;
}

}  // namespace sluice::lib
