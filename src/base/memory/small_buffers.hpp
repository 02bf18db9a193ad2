// SPDX-License-Identifier: Apache-2.0
// Freed buffers of single records, kept for the next ones: a shuffle makes one for each record that it holds, and drops
// as many, so that in its steady state nothing is allocated.
//
// Each thread keeps some of each size for itself, without a lock. A thread that only drops (it consumes what another
// one reads) passes half of its own to a common list, from which the other one takes as many at a time. So memory goes
// back to who makes buffers, under one lock for dozens of them.
// Owns:   at most kThreadBytesMax for a thread, kSizeBytesMax of one size, and kCommonBytesMax in common.
// Thread: any.
#pragma once

#include <cstddef>

#include "sluice/base/buffer.hpp"

namespace sluice::lib::small_buffers {

inline constexpr std::size_t kThreadBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kSizeBytesMax = std::size_t{256} << 10;
inline constexpr std::size_t kCommonBytesMax = std::size_t{1} << 20;

/// A capacity that is kept: the next multiple of 16, from 1 KiB on of 64, from 4 KiB on of 256.
std::size_t rounded(std::size_t bytes) noexcept;

/// A buffer of this rounded capacity that was dropped; null: there is none.
buffer* take(std::size_t capacity) noexcept;
/// False: there are enough of them.
bool keep(buffer* b) noexcept;
/// Bytes kept in common, and by this thread.
std::size_t kept_bytes() noexcept;
/// Frees them.
void trim() noexcept;

}  // namespace sluice::lib::small_buffers
