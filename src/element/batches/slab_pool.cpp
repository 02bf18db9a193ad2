// SPDX-License-Identifier: Apache-2.0
#include "element/batches/slab_pool.hpp"

#include <bit>
#include <new>

#include "base/memory/pages.hpp"
#include "base/memory/recycling.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib::detail {
namespace {

constexpr int class_of(std::size_t bytes) { return std::countr_zero(bytes) - std::countr_zero(kPooledSlabBytesMin); }

/// One list for each power of two. A mutex suffices, because it is locked once per block, not per element.
class slab_pool {
 public:
  void* take(std::size_t bytes) {
    mutex_lock lock(mutex_);
    parked*& list = lists_[class_of(bytes)];
    parked* p = list;
    if (!p) return nullptr;
    list = p->next;
    parked_bytes_ -= bytes;
    return p;
  }
  bool park(void* data, std::size_t bytes) noexcept {
    mutex_lock lock(mutex_);
    if (parked_bytes_ + bytes > kParkedSlabBytesMax) return false;
    parked*& list = lists_[class_of(bytes)];
    list = ::new (data) parked{list};
    parked_bytes_ += bytes;
    return true;
  }

 private:
  struct parked {
    parked* next;
  };
  mutex mutex_;
  parked* lists_[class_of(kPooledSlabBytesMax) + 1] ABSL_GUARDED_BY(mutex_) = {};
  std::size_t parked_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

/// Never destroyed, because the program's static objects may free slabs.
slab_pool& pool() {
  static slab_pool& p = *new slab_pool;
  return p;
}

bool is_pooled(std::size_t bytes, std::size_t alignment) {
  return kRecycles && bytes >= kPooledSlabBytesMin && bytes <= kPooledSlabBytesMax && alignment == kSlabAlignment;
}

/// Returns true for sizes beyond the pool with an alignment that pages have.
bool is_mapped(std::size_t bytes, std::size_t alignment) {
  return bytes > kPooledSlabBytesMax && alignment <= kPageBytes;
}

}  // namespace

std::size_t slab_bytes(std::size_t bytes) {
  if (bytes > kPooledSlabBytesMax) return bytes < ~std::size_t{0} / 4 ? pages_bytes(bytes) : bytes;
  return bytes > kPooledSlabBytesMin / 2 ? std::bit_ceil(bytes) : bytes;
}

void* allocate_slab(std::size_t bytes, std::size_t alignment) {
  bytes = slab_bytes(bytes);
  if (is_mapped(bytes, alignment)) return allocate_pages(bytes);
  if (is_pooled(bytes, alignment))
    if (void* p = pool().take(bytes)) return p;
  return ::operator new(bytes, std::align_val_t{alignment});
}

void free_slab(void* data, std::size_t bytes, std::size_t alignment) noexcept {
  bytes = slab_bytes(bytes);
  if (is_mapped(bytes, alignment)) return free_pages(data, bytes);
  if (!is_pooled(bytes, alignment) || !pool().park(data, bytes)) ::operator delete(data, std::align_val_t{alignment});
}

}  // namespace sluice::lib::detail
