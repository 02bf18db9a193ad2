// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/flat_map.hpp"

#include "engine/inner/elements_of_lists.hpp"
#include "engine/inner/interleave_loop.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"

namespace sluice::lib {

namespace {

erased_stream open_flat_map(const node& n, open_context& context) {
  outlet out(*n.type);
  const plan_or_function& inner = n.as<flat_map_arguments>().inner;
  if (function_ptr lists = lists_opened_by(inner))
    return elements_of_lists(out, context.open(n.inputs[0]), {std::move(lists)}, context.gate(n));
  inner_plans inners(n, inner, context, nullptr);
  erased_stream outer = context.open(n.inputs[0]);
  saved<cycle> c;
  return interleave_loop(out, std::move(c), std::move(outer), std::move(inners), 1, kToTheEnd);
}

}  // namespace

const op_info flat_map_op{
    .name = "flat_map",
    .doc = "opens a dataset for each element, one after another",
    .arguments = arguments_of<flat_map_arguments>,
    .type = [](const node& n, std::string& why) { return type_of_inner(n, n.as<flat_map_arguments>().inner, why); },
    .spec = [](const node& n) { return spec_of_inner(n, n.as<flat_map_arguments>().inner); },
    .facts = {.always = {.keeps_order = true, .may_fail = false, .uses_place = false}, .members = member_use::of_inner},
    .splits = {.rule = split_rule::each_element},
    .lowering = {.open = open_flat_map},
};

}  // namespace sluice::lib
