// SPDX-License-Identifier: Apache-2.0
// TCP and Unix sockets with asio. One thread waits for all sockets, and resumes coroutines on their own executors.
//
// Addresses: "host:port", and "unix:/path", the socket in a file. listen() replaces the file if nobody listens to it, and
// the listener's destructor removes it.
// Thread: any. Only asio's thread touches asio's sockets, because sockets and cancellation slots are not safe to share
//         (asio#1348). A read or write first tries the system call on the calling thread, and moves to asio's thread
//         only if it must wait.
// Owns:   the thread. REQUIRES: connections and listeners are destroyed before the network.
#pragma once

#include <memory>

#include "sluice/io/network.hpp"

namespace sluice::lib {

std::unique_ptr<network> make_asio_network();

/// Makes TCP the transport of this program's messages, once, before it distributes plans (io/open_transport.hpp).
void register_asio_transport();

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::make_asio_network;
using lib::register_asio_transport;

}  // namespace sluice
