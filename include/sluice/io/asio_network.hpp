// SPDX-License-Identifier: Apache-2.0
// TCP by asio: one thread that waits for all sockets, which resumes coroutines on their own executors.
//
// Thread: any; asio touches its sockets on its thread only, because they and cancellation slots are not safe to share (asio#1348).
//         Whoever reads or writes tries the system call first, where it is; only what has to wait goes there.
// Owns: the thread; connections and listeners must be gone before the network is.
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
