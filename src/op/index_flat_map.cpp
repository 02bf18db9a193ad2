// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/index_flat_map.hpp"

#include <string>
#include <utility>

#include "engine/inner/elements_of_lists.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "expr/functions/numbers.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "plan/drops_errors.hpp"

namespace sluice::lib {
namespace {

erased_stream open_index_flat_map(const node& n, open_context& context) {
  auto& a = n.as<index_flat_map_arguments>();
  outlet out(*n.type);
  error_gate gate = context.gate(n);
  list_rule rule{a.function.value, a.index_map.value};
  if (a.options.cardinality) {
    rule.total = static_cast<std::uint64_t>(a.options.cardinality->value);
    // If elements may be dropped, here or upstream, the numbers of inputs are not those that index_map knows.
    rule.is_exact = !gate.skips() && context.on_error == error_policy::stop && !drops_errors(*n.inputs[0]);
  }
  return elements_of_lists(out, context.open(n.inputs[0]), std::move(rule), std::move(gate));
}

bool is_place(const element_type& t) {
  auto is_whole = [](const member& m) { return expressions::is_integer(expressions::number_of(*m.type)); };
  return t.kind == kind::pair && is_whole(t.members[0]) && is_whole(t.members[1]);
}

const element_type* index_flat_mapped_type(const node& n, std::string& why) {
  auto& a = n.as<index_flat_map_arguments>();
  if (!a.index_map.value) return why = "needs an index_map, such as (it / 2, it % 2)", nullptr;
  if (!is_place(*a.index_map.value->out)) {
    why = "index_map gives two whole numbers, that of an input and a place in its list, and this one " +
          a.index_map.value->out->name;
    return nullptr;
  }
  const element_type* list = type_of_function(n, a.function.value, why);
  if (!list) return nullptr;
  if (!is_list(*list)) return why = "the function gives a list or an array, and this one " + list->name, nullptr;
  if (!list->element->copy) return why = "elements of " + list->element->name + " cannot be copied", nullptr;
  return list->element;
}

}  // namespace

const op_info index_flat_map_op{
    .name = "index_flat_map",
    .doc = "makes a list of each element; a function locates output element i",
    .arguments = arguments_of<index_flat_map_arguments>,
    .type = index_flat_mapped_type,
    .facts = {.size =
                  [](const node& n) {
                    auto& total = n.as<index_flat_map_arguments>().options.cardinality;
                    return total && !drops_errors(*n.inputs[0]) ? cardinality::of(*total) : cardinality();
                  },
              .seeks = [](const node& n) { return n.as<index_flat_map_arguments>().options.cardinality.has_value(); }},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_index_flat_map},
};

}  // namespace sluice::lib
