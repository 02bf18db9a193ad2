// SPDX-License-Identifier: Apache-2.0
// The stage that reads a channel in the order in which computations finish: the sloppy map.
//
// Its record in a position contains the ordinals of the inputs whose outputs were delivered out of order, and the
// choices that it has made since the mark of its input.
#pragma once

#include "ahead/channel_memory.hpp"
#include "ahead/open_channel.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

/// If the computation may drop elements, each input has a slot of its own: choices are ranges of inputs.
/// REQUIRES: options.follows has a knob.
erased_stream read_unordered(outlet out, channel_memory memory, erased_stream in, channel_options options);

}  // namespace sluice::lib
