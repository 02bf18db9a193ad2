// SPDX-License-Identifier: Apache-2.0
// The stage that reads a channel in the order in which computations finish: the sloppy map.
//
// Its record in a position contains the ordinals of the inputs whose outputs were delivered out of order, and the
// choices that it has made since the mark of its input.
#pragma once

#include <cstdint>
#include <memory>

#include "ahead/channel_memory.hpp"
#include "ahead/pump.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

/// `limits`: of a knob. `may_drop`: the computation may pass over elements. Choices are ranges of inputs, so each then
/// has a slot of its own.
erased_stream read_unordered(outlet out, channel_memory memory, std::shared_ptr<run_context> run, erased_stream in,
                             const slot_supply::live_limits& limits,
                             std::shared_ptr<const slot_computation> computation, bool may_drop);

}  // namespace sluice::lib
