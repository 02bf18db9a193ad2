// SPDX-License-Identifier: Apache-2.0
#include "base/memory/pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <new>

#include "base/memory/recycling.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib {
namespace {

/// From this size on, mappings use huge pages. Smaller mappings would waste too much memory that is never written.
constexpr std::size_t kHugeBytesMin = std::size_t{4} << 20;

void* map(std::size_t bytes) {
  if (!kRecycles) return ::operator new(bytes, std::align_val_t{kPageBytes});
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  // A range of an object, for example. All of it will be written, and page faults for each 4 KiB would take as long as
  // the copy.
  if (bytes >= kHugeBytesMin) (void)::madvise(at, bytes, MADV_HUGEPAGE);
  return at;
}

void unmap(void* at, std::size_t bytes) noexcept {
  if (kRecycles) ::munmap(at, bytes);
  else ::operator delete(at, std::align_val_t{kPageBytes});
}

/// The mappings that were freed last, oldest first. A mutex is enough: large blocks are allocated and freed at most
/// about a thousand times a second.
class page_stock {
 public:
  void* take(std::size_t bytes) {
    mutex_lock lock(mutex_);
    for (std::size_t i = count_; i-- != 0;)
      if (kept_[i].bytes == bytes) {
        void* at = kept_[i].at;
        remove(i);
        return at;
      }
    return nullptr;
  }
  /// Adds the newest mapping, and releases the oldest ones until the rest fits.
  void put(void* at, std::size_t bytes) noexcept {
    if (!kRecycles || bytes > kStockedBytesMax) return unmap(at, bytes);
    std::array<mapping, kCountMax> gone;
    std::size_t gone_count = 0;
    {
      mutex_lock lock(mutex_);
      while (count_ == kCountMax || bytes_ + bytes > kStockBytesMax) {
        gone[gone_count++] = kept_[0];
        remove(0);
      }
      kept_[count_++] = {at, bytes};
      bytes_ += bytes;
    }
    for (std::size_t i = 0; i != gone_count; ++i) unmap(gone[i].at, gone[i].bytes);
  }
  void trim() noexcept {
    mutex_lock lock(mutex_);
    while (count_) {
      unmap(kept_[0].at, kept_[0].bytes);
      remove(0);
    }
  }

 private:
  static constexpr std::size_t kCountMax = 32;
  struct mapping {
    void* at = nullptr;
    std::size_t bytes = 0;
  };
  void remove(std::size_t i) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    bytes_ -= kept_[i].bytes;
    for (--count_; i < count_; ++i) kept_[i] = kept_[i + 1];
  }

  mutex mutex_;
  std::array<mapping, kCountMax> kept_ ABSL_GUARDED_BY(mutex_);
  std::size_t count_ ABSL_GUARDED_BY(mutex_) = 0, bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

/// Never destroyed: the program's static objects may free memory.
page_stock& stock() {
  static page_stock& s = *new page_stock;
  return s;
}

}  // namespace

std::size_t pages_bytes(std::size_t bytes) {
  std::size_t step = kPageBytes;
  if (bytes > 32 * kPageBytes) step = std::max(step, std::bit_floor(bytes - 1) / 8);
  return (bytes + step - 1) / step * step;
}

void* allocate_pages(std::size_t bytes) {
  if (bytes > ~std::size_t{0} / 4) throw std::bad_alloc();
  bytes = pages_bytes(bytes);
  if (void* at = stock().take(bytes)) return at;
  return map(bytes);
}

void free_pages(void* at, std::size_t bytes) noexcept { stock().put(at, pages_bytes(bytes)); }

void forget_pages(char* begin, char* end) noexcept {
  auto from = (reinterpret_cast<std::uintptr_t>(begin) + kPageBytes - 1) / kPageBytes * kPageBytes;
  auto to = reinterpret_cast<std::uintptr_t>(end) / kPageBytes * kPageBytes;
  if (kRecycles && from < to) ::madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
}

void ready_pages(char* begin, char* end) noexcept {
  auto from = reinterpret_cast<std::uintptr_t>(begin) / kPageBytes * kPageBytes;
  auto to = (reinterpret_cast<std::uintptr_t>(end) + kPageBytes - 1) / kPageBytes * kPageBytes;
  if (kRecycles && from < to) (void)::madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_WRITE);
}

void* allocate_huge_page() {
  if (!kRecycles) return ::operator new(kHugePageBytes, std::align_val_t{kHugePageBytes});
  // Twice the size has an aligned part. The rest is never written, and returned.
  constexpr std::size_t kMapped = 2 * kHugePageBytes;
  void* mapped = ::mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  char* const begin = static_cast<char*>(mapped);
  const std::size_t before =
      (kHugePageBytes - reinterpret_cast<std::uintptr_t>(begin) % kHugePageBytes) % kHugePageBytes;
  if (before != 0) ::munmap(begin, before);
  ::munmap(begin + before + kHugePageBytes, kHugePageBytes - before);
  (void)::madvise(begin + before, kHugePageBytes, MADV_HUGEPAGE);  // pages of 4 KiB do as well
  return begin + before;
}

void free_huge_page(void* at) noexcept {
  if (kRecycles) ::munmap(at, kHugePageBytes);
  else ::operator delete(at, std::align_val_t{kHugePageBytes});
}

void trim_stock() noexcept { stock().trim(); }

}  // namespace sluice::lib
