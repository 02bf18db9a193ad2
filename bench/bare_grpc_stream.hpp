// SPDX-License-Identifier: Apache-2.0
// A stream of gRPC without anything else: a server writes the same message again and again, and a client counts its bytes, over
// loopback in this process. The reference of the transports and of the service.
#pragma once

#include <cstddef>

#include "bench/harness.hpp"

namespace sluice::lib::bench {

struct frames {
  std::size_t count = 0, bytes = 0;
};

/// The answer is the number of bytes; an element is a frame. Compiled only with gRPC.
pass bare_grpc_stream(frames f);

}  // namespace sluice::lib::bench
