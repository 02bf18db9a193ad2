// SPDX-License-Identifier: Apache-2.0
// Stages that an operator opens instead of its own if nothing has to be computed.
#pragma once

#include "sluice/base/status.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

/// Opens a stream without elements.
erased_stream empty_stage(outlet out);
/// Opens a stream that fails at its first request.
erased_stream failed_stage(outlet out, status why);

}  // namespace sluice::lib
