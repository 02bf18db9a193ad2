// SPDX-License-Identifier: Apache-2.0
// The message transport over gRPC (io/transport.hpp has the contract): the library sluice-grpc.
//
//   auto transport = make_grpc_transport();
//   auto server = co_await transport->listen("unix:/run/sluice.sock", handler);      // or "127.0.0.1:0"
//   auto channel = transport->connect(server->address());
//
// One HTTP/2 connection of a channel carries its calls and streams. Besides its own methods, a server answers
// grpc.health.v1.Health. Credit is counted in bytes of frames, by messages of the client, so it does not depend on
// windows of HTTP/2. Each message has a crc32c. After a failed connect a channel connects again within a second.
// gRPC's own log is off, unless the environment variable GRPC_VERBOSITY is set.
// Errors: also permission_denied and others, if a proxy between client and server answers with them.
// Thread: any. gRPC's own threads receive; coroutines continue on their executors.
#pragma once

#include <memory>

#include "sluice/io/transport.hpp"

namespace sluice::lib {

std::unique_ptr<message_transport> make_grpc_transport();

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::make_grpc_transport;

}  // namespace sluice
