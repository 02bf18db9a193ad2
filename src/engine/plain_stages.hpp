// SPDX-License-Identifier: Apache-2.0
// Stages that an operator opens instead of its own where there is nothing to do.
#pragma once

#include "sluice/base/status.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

/// A stream of nothing.
erased_stream empty_stage(outlet out);
/// A stream that fails at its first request.
erased_stream failed_stage(outlet out, status why);

}  // namespace sluice::lib
