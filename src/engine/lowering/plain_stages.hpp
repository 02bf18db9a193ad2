// SPDX-License-Identifier: Apache-2.0
// Stages that an operator opens instead of its own if there is nothing to compute.
#pragma once

#include "sluice/base/status.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

/// A stream without elements.
erased_stream empty_stage(outlet out);
/// A stream that fails at its first request.
erased_stream failed_stage(outlet out, status why);

}  // namespace sluice::lib
