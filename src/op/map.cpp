// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/map.hpp"

#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/fused_stage.hpp"
#include "engine/lowering/mapped_stage.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

const op_info map_op{
    .name = "map",
    .doc = "each element becomes f(element)",
    .arguments = arguments_of<map_arguments>,
    .type = [](const node& n, std::string& why) -> const element_type* {
      return type_of_function(n, n.as<map_arguments>().function.value, why);
    },
    .spec =
        [](const node& n) {
          auto* f = dynamic_cast<const knows_spec*>(n.as<map_arguments>().function.value.get());
          return f ? f->spec_for(element_spec_of(*n.inputs[0])) : spec_of(*n.type);
        },
    .facts = {.always = {.outputs = output_count::one_per_input,
                         .keeps_order = true,
                         .may_fail = false,
                         .uses_place = false,
                         .has_record = false},
              .refine = [](const node& n, stage_facts& f) { note_order(f, n.as<map_arguments>().options.order); },
              .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
              .seeks = [](const node& n) { return n.as<map_arguments>().options.order == order::deterministic; },
              .uses_members_read = true},
    .splits = {.rule = split_rule::each_element},
    .lowering = {.open =
                     [](const node& n, open_context& context) {
                       auto& a = n.as<map_arguments>();
                       return open_mapped(n, context, a.function.value, a.options);
                     },
                 .open_rows =
                     [](const node& n, open_context& context, const std::shared_ptr<row_landing>& landing) {
                       auto& a = n.as<map_arguments>();
                       return open_mapped_rows(n, context, a.function.value, a.options, landing);
                     },
                 .work =
                     [](const node& n) {
                       auto& a = n.as<map_arguments>();
                       return node_work{a.function.value, false, a.options.parallelism.value != 1, a.options.order,
                                        a.options.seed.value};
                     }},
};

}  // namespace sluice::lib
