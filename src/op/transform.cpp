// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/transform.hpp"

#include "op/engine.hpp"

namespace sluice {

extern const op_info transform_op{
    .name = "transform",
    .doc = "a user's own coroutine as a stage",
    .accepts = [](const stage_function& f) { return is_a<stream_function>(f) && f.in; },
    .type = type_of_function,
    .open = [](const node& n, open_context& context) { return open_user_stage(n, context, context.open(n.inputs[0])); },
};

}  // namespace sluice
