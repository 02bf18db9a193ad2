// SPDX-License-Identifier: Apache-2.0
// Recycled storage for slabs: batch columns and channel slots come and go at the pace of blocks, at sizes where malloc
// gives pages back to the system and faults them in again (a third of a parse-and-batch job was that). Larger ones are
// whole pages (base/memory/pages.hpp), which leave the process when they are freed.
#pragma once

#include <cstddef>

namespace sluice::lib::detail {

inline constexpr std::size_t kSlabAlignment = 64;  ///< a cache line: other workers read blocks
inline constexpr std::size_t kPooledSlabBytesMin = std::size_t{4} << 10;
inline constexpr std::size_t kPooledSlabBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kParkedSlabBytesMax = std::size_t{16} << 20;

/// How many bytes an allocation for `bytes` really gives.
std::size_t slab_bytes(std::size_t bytes);
/// Storage of slab_bytes(bytes).
void* allocate_slab(std::size_t bytes, std::size_t alignment);
void free_slab(void* data, std::size_t bytes, std::size_t alignment) noexcept;

}  // namespace sluice::lib::detail
