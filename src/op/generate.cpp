// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/generate.hpp"

#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "engine/lowering/user_stage.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

const op_info generate_op{
    .name = "generate",
    .doc = "a coroutine of the user as a source",
    .shape = op_info::source,
    .arguments = arguments_of<generate_arguments>,
    .type = [](const node& n,
               std::string& why) { return type_of_function(n, n.as<generate_arguments>().function.value, why); },
    .splits = {.rule = split_rule::this_process},
    .lowering = {.open =
                     [](const node& n, open_context&) {
                       return open_user_stage(n, n.as<generate_arguments>().function.value, erased_stream());
                     }},
};

}  // namespace sluice::lib
