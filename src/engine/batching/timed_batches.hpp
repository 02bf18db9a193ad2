// SPDX-License-Identifier: Apache-2.0
// Batches that are delivered before they are full: batch with a timeout.
#pragma once

#include <cstdint>
#include <memory>

#include "ahead/channel_memory.hpp"
#include "engine/lowering/error_gate.hpp"
#include "sluice/coro/environment.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

/// A batch has `rows` rows, or fewer if `timeout` has passed since its first one arrived. The input gets a channel,
/// which is charged to `channel`.
erased_stream timed_batches(outlet out, erased_stream in, channel_memory channel, std::uint64_t rows, duration timeout,
                            std::shared_ptr<run_context> run, error_gate gate);

}  // namespace sluice::lib
