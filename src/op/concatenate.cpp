// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/concatenate.hpp"

#include "engine/inner/concatenation.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"

namespace sluice::lib {
namespace {

erased_stream open_concatenate(const node& n, open_context& context) {
  outlet out(*n.type);
  saved<concatenation_state> st;
  node combine = n;
  return concatenation_loop(out, std::move(st), std::move(combine), context, {});
}

}  // namespace

const op_info concatenate_op{
    .name = "concatenate",
    .doc = "all elements of the first input, then all of the next",
    .shape = op_info::combine,
    .type = [](const node& n, std::string& why) { return type_of_inputs(n, n.inputs.size(), why); },
    .spec = [](const node& n) { return spec_of_inputs(n, n.inputs.size()); },
    .facts = {.always = {.forwards = true, .keeps_order = true, .may_fail = false},
              .size =
                  [](const node& n) {
                    cardinality all = cardinality::of(0);
                    for (const node_ptr& input : n.inputs) all = all.and_then(cardinality_of(*input));
                    return all;
                  },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::one_after_another},
    .lowering = {.open = open_concatenate},
};

}  // namespace sluice::lib
