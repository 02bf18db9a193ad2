// SPDX-License-Identifier: Apache-2.0
// Large memory, in whole pages from the system and back to it.
//
// malloc keeps much of what is freed: glibc raises its threshold for mapping to the largest block that was ever freed
// (up to 32 MiB), and from then on a buffer of 10 MiB is cut from a heap that shrinks only at its top. A process then
// takes several times what its ledger counts. What is freed here leaves the process, except for a small stock of
// the sizes used last: unmapping and faulting in 10 MiB again takes about as long as reading them from the page cache.
// Thread: any.  Units: bytes.
#pragma once

#include <cstddef>

namespace sluice::lib {

/// From this size on memory is asked for here; below, malloc is faster and keeps little.
inline constexpr std::size_t kPagesBytesMin = std::size_t{128} << 10;
/// The stock: at most this number of freed bytes in all stays in the process.
inline constexpr std::size_t kStockBytesMax = std::size_t{16} << 20;
inline constexpr std::size_t kPageBytes = 4096;

/// Returns the true size of an allocation of `bytes`: whole pages, and for large sizes an eighth of a power of two, so
/// that buffers that grow with their records fit into each other's memory.
std::size_t pages_bytes(std::size_t bytes);
/// Memory of pages_bytes(bytes), aligned to a page, uninitialised. Errors: std::bad_alloc.
void* allocate_pages(std::size_t bytes);
/// `bytes`: as allocated.
void free_pages(void* at, std::size_t bytes) noexcept;

/// Blocks larger than this never come into the stock: freed, they leave the process.
inline constexpr std::size_t kStockedBytesMax = kStockBytesMax / 2;
/// Releases the pages of an allocation wholly within [begin, end) now; their bytes are lost. Freeing 300 MiB at once
/// takes about 20 ms, in which its thread does nothing else.
void forget_pages(char* begin, char* end) noexcept;

/// All of [begin, end) will be written: its pages come at once, in some two thirds of the time that a fault for each takes. Where the
/// kernel does not know how (before 5.14), or has no memory, they come as they are touched.
void ready_pages(char* begin, char* end) noexcept;

/// Gives the stock back to the system.
void trim_stock() noexcept;

}  // namespace sluice::lib
