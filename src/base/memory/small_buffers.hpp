// SPDX-License-Identifier: Apache-2.0
// Freed buffers of single records, retained for later ones: a shuffle allocates one for each record that it stores, and
// frees as many, so in its steady state it allocates no new memory.
//
// Each thread retains some buffers of each size, without a lock. A thread that only frees buffers (a consumer of
// another thread's records) moves half of its own to a common list, from which the other thread takes as many at a
// time. So memory returns to the thread that allocates buffers, with one lock for dozens of them.
// Owns:   at most kThreadBytesMax per thread, kSizeBytesMax of one size, and kCommonBytesMax in the common lists.
// Thread: any.
#pragma once

#include <cstddef>

#include "sluice/base/buffer.hpp"

namespace sluice::lib::small_buffers {

inline constexpr std::size_t kThreadBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kSizeBytesMax = std::size_t{256} << 10;
inline constexpr std::size_t kCommonBytesMax = std::size_t{1} << 20;

/// Rounds up to a capacity that is retained: a multiple of 16; from 1 KiB on, of 64; from 4 KiB on, of 256.
std::size_t rounded(std::size_t bytes) noexcept;

/// Returns a freed buffer of this rounded capacity; null if none is left.
buffer* take(std::size_t capacity) noexcept;
/// Returns false if enough buffers are retained already.
bool keep(buffer* b) noexcept;
/// Returns the number of bytes retained in the common lists and by this thread.
std::size_t kept_bytes() noexcept;
/// Frees these buffers.
void trim() noexcept;

}  // namespace sluice::lib::small_buffers
