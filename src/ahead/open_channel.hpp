// SPDX-License-Identifier: Apache-2.0
// Opens a channel: a pump that requests blocks from a stream, slots that it fills, and the stage that reads them.
// Stages of all operators get their channels here.
//
//   channel_options options;
//   options.pump.computation = std::move(computation);
//   options.follows = {&context.live(n, o.parallelism, tuned), limits_of};
//   return open_channel(context.memory_of(n, gate.label()), std::move(in), *n.type, std::move(options)).out;
//
// Order: the order of the input; with order::sloppy the order in which computations finish.
// Errors: those of the input and of the computation, in their place among the elements.
// Thread: called by the code that opens the stage. The pump starts with the first request, or with
//         reader_link::start().
// Owns:   the input, until the pump takes it.
#pragma once

#include <memory>

#include "ahead/channel_memory.hpp"
#include "ahead/pump.hpp"
#include "ahead/ready_signal.hpp"
#include "ahead/slot_supply.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

class reader_link;

struct channel_options {
  slot_supply::limits limits = {};        ///< limits on what is in flight, if no knob sets them
  slot_supply::live_limits follows = {};  ///< a knob, and the limits at a value of it
  pump_options pump = {};                 ///< the computation, the permits to work, whether elements may be dropped
  sluice::lib::order order = order::deterministic;  ///< sloppy: needs a computation and a knob
  /// The reader computes blocks itself if they cost less to compute than to move. Has no effect with sloppy order, or
  /// if the reader chooses the inputs that are ready.
  bool direct_where_light = false;
  std::uint64_t group = 1;  ///< the consumer uses this number of elements together: blocks end where such groups end
  std::shared_ptr<ready_signal> signal = {};  ///< notified of each block; not with sloppy
};

struct opened_channel {
  erased_stream out;                  ///< the stage that reads the channel
  std::shared_ptr<reader_link> link;  ///< starts the pump before the first request; null with sloppy
};

/// Opens a channel from `in` to a stage with elements of type `out`. `memory`: the ledger line that its blocks are
/// charged to.
opened_channel open_channel(channel_memory memory, erased_stream in, const element_type& out, channel_options options);

}  // namespace sluice::lib
