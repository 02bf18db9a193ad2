// SPDX-License-Identifier: Apache-2.0
// TCP with asio. One thread waits for all sockets, and resumes coroutines on their own executors.
//
// Thread: any. Only asio's thread touches asio's sockets, because sockets and cancellation slots are not safe to share
//         (asio#1348). A read or write first tries the system call on the calling thread, and moves to asio's thread
//         only if it must wait.
// Owns:   the thread. REQUIRES: connections and listeners are destroyed before the network.
#pragma once

#include <memory>

#include "sluice/io/network.hpp"

namespace sluice::lib {

std::unique_ptr<network> make_asio_network();

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::make_asio_network;

}  // namespace sluice
