// SPDX-License-Identifier: Apache-2.0
// Recycled memory for slabs. Batch columns and channel slots are allocated for each block, at sizes for which malloc
// returns pages to the system and faults them in again, which took a third of a parse-and-batch job. Larger ones are
// whole pages (base/memory/pages.hpp), which are returned to the system when they are freed.
#pragma once

#include <cstddef>

namespace sluice::lib::detail {

inline constexpr std::size_t kSlabAlignment = 64;  ///< a cache line, because other workers read blocks
inline constexpr std::size_t kPooledSlabBytesMin = std::size_t{4} << 10;
inline constexpr std::size_t kPooledSlabBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kParkedSlabBytesMax = std::size_t{16} << 20;

/// Returns the real size of an allocation for `bytes`.
std::size_t slab_bytes(std::size_t bytes);
/// Allocates slab_bytes(bytes).
void* allocate_slab(std::size_t bytes, std::size_t alignment);
void free_slab(void* data, std::size_t bytes, std::size_t alignment) noexcept;

}  // namespace sluice::lib::detail
