// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/generate.hpp"

#include "engine/open_context.hpp"
#include "engine/types.hpp"
#include "engine/user_stage.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/engine/functions.hpp"

namespace sluice::lib {

extern const op_info generate_op{
    .name = "generate",
    .doc = "a user's own coroutine as a source",
    .shape = op_info::source,
    .accepts = [](const stage_function& f) { return is_a<stream_function>(f) && !f.in; },
    .type = type_of_function,
    .open = [](const node& n, open_context&) { return open_user_stage(n, erased_stream()); },
};

}  // namespace sluice::lib
