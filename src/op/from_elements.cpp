// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/from_elements.hpp"

#include "engine/data/stored_elements.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"

namespace sluice::lib {

const op_info from_elements_op{
    .name = "from_elements",
    .doc = "elements in memory",
    .shape = op_info::source,
    .arguments = arguments_of<from_elements_arguments>,
    .type = [](const node& n,
               std::string& why) { return type_of_function(n, n.as<from_elements_arguments>().function.value, why); },
    .facts = {.always = {.may_fail = false},
              .size =
                  [](const node& n) {
                    return cardinality::of(static_cast<std::int64_t>(
                        static_cast<const elements_function&>(*n.as<from_elements_arguments>().function.value).size()));
                  },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::numbered},
    .lowering = {.open = [](const node& n,
                            open_context&) { return stored_elements(n.as<from_elements_arguments>().function.value); }},
};

}  // namespace sluice::lib
