// SPDX-License-Identifier: Apache-2.0
// Large memory, in whole pages from the system and back to it.
//
// malloc retains much of the freed memory. glibc raises its threshold for mapping to the largest block that was ever
// freed (up to 32 MiB). From then on a buffer of 10 MiB comes from a heap that shrinks only at its top. A process then
// uses several times the memory that its ledger counts. Memory that is freed here leaves the process, except for a
// small stock of the sizes used last: unmapping and faulting in 10 MiB again takes about as long as reading them from
// the page cache.
// Thread: any.  Units: bytes.
#pragma once

#include <cstddef>

namespace sluice::lib {

/// Requests of at least this size come here; for smaller ones malloc is faster and retains little.
inline constexpr std::size_t kPagesBytesMin = std::size_t{128} << 10;
/// The stock: at most this number of freed bytes stays in the process.
inline constexpr std::size_t kStockBytesMax = std::size_t{16} << 20;
inline constexpr std::size_t kPageBytes = 4096;

/// Returns the true size of an allocation of `bytes`: whole pages, and for large sizes an eighth of a power of two, so
/// that buffers that grow with their records fit into each other's memory.
std::size_t pages_bytes(std::size_t bytes);
/// Memory of pages_bytes(bytes), aligned to a page, uninitialized. Errors: std::bad_alloc.
void* allocate_pages(std::size_t bytes);
/// `bytes`: as allocated.
void free_pages(void* at, std::size_t bytes) noexcept;

/// Blocks larger than this never enter the stock: when they are freed, they leave the process.
inline constexpr std::size_t kStockedBytesMax = kStockBytesMax / 2;
/// Releases the pages of an allocation that are completely within [begin, end) now; their bytes are lost. Freeing 300
/// MiB at once blocks the thread for about 20 ms.
void forget_pages(char* begin, char* end) noexcept;

/// Maps the pages of [begin, end), all of which will be written. This takes about two thirds of the time of a page
/// fault for each page. If the kernel does not support it (before 5.14), or has no memory, the pages are mapped when
/// they are first written.
void ready_pages(char* begin, char* end) noexcept;

/// Memory of this size, aligned to it, which the system maps as one huge page if it is allowed to. Errors: std::bad_alloc.
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
void* allocate_huge_page();
void free_huge_page(void* at) noexcept;

/// Returns the stock's memory to the system.
void trim_stock() noexcept;

}  // namespace sluice::lib
