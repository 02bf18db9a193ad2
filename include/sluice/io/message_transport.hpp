// SPDX-License-Identifier: Apache-2.0
// The two transports that the library itself contains (io/transport.hpp has the contract).
//
//   auto net = make_asio_network();
//   auto transport = make_message_transport(*net);          // also over a simulated_network
//   auto here = make_local_transport();                     // servers and clients of one process
#pragma once

#include <memory>

#include "sluice/io/network.hpp"
#include "sluice/io/transport.hpp"

namespace sluice::lib {

/// Calls and streams over connections of `net`. Each stream has a connection of its own; calls use idle connections of
/// their channel, or a new one. Every message has a checksum. REQUIRES: `net` outlives the transport.
std::unique_ptr<message_transport> make_message_transport(network& net);

/// Calls the handlers of servers of the same transport object. Frames are handed over without a copy. An address is any
/// text; if it is empty, listen() chooses one.
std::unique_ptr<message_transport> make_local_transport();

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::make_local_transport;
using lib::make_message_transport;

}  // namespace sluice
