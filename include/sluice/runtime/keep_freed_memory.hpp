// SPDX-License-Identifier: Apache-2.0
// An option for programs whose functions make large strings and vectors: glibc's malloc keeps what they free.
//
//   int main() {
//     sluice::keep_freed_memory();             // first: before other threads allocate
//     …
//   }
//
// By itself glibc gives memory back to the system as soon as 128 KiB at the end of a heap are free, and maps what is
// larger than 128 KiB at first: a pipeline whose blocks are larger meets new pages at every block, and a page fault costs
// as much as writing the page several times. docs/tuning.md has figures, and says what it costs in memory.
//
// Opt-in, because malloc is the program's: a library does not set its host's. Without glibc, or with another malloc linked
// or preloaded, nothing happens.
#pragma once

#include <cstddef>

namespace sluice::lib {

/// malloc's thresholds.
struct kept_memory {
  /// Allocations from this size on are mapped, and leave the process when freed. 32 MiB is the most that glibc accepts.
  std::size_t map_bytes = std::size_t{32} << 20;
  /// Free bytes at the end of a heap from which on they are given back. Twice the other, as glibc's own dynamic
  /// threshold is (mallopt(3)).
  std::size_t trim_bytes = std::size_t{64} << 20;
};

/// Sets malloc's thresholds for the rest of the process. Returns true if malloc accepted them; false where there is no
/// glibc. Thread: call it before others allocate.
bool keep_freed_memory(kept_memory how = {}) noexcept;

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::keep_freed_memory;
using lib::kept_memory;

}  // namespace sluice
