// SPDX-License-Identifier: Apache-2.0
// Streams that a user's function returns, for generate and transform.
#pragma once

#include "sluice/coro/erased_stream.hpp"
#include "sluice/engine/detail/functions.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Returns the stream that a user's function (a stream_function) builds from `in`. Errors carry the labels of its
/// coroutines, which retain the function. Returns an empty stream if the function throws or builds none; `why` then has
/// the reason.
erased_stream make_user_stage(const function_ptr& function, erased_stream in, status& why);
/// Opens such a stream as a stage. If the function builds no stream, the first request fails.
erased_stream open_user_stage(const node& n, const function_ptr& function, erased_stream in);

}  // namespace sluice::lib
