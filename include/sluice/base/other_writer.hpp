// SPDX-License-Identifier: Apache-2.0
// other_writer: an option of cache() and snapshot(), which one process at a time writes.
#pragma once

#include <cstdint>

namespace sluice::lib {

/// The reaction of a run to another process that writes the same cache or snapshot.
enum class other_writer : std::uint8_t {
  compute,  ///< the run computes the elements that are missing, and writes nothing
  wait,     ///< the run waits until they are written, or until the other process has ended
  fail,     ///< the stream ends with unavailable
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::other_writer;

}  // namespace sluice
