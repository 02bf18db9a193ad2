// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/buffer.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>

#include "base/pages.hpp"

namespace sluice::lib {

// One free list for each power of two that is pooled. A mutex, not lock-free lists: it is taken once per buffer of
// 16 KiB or more, that is once per dozens of records.
class buffer_pool {
 public:
  static constexpr int kClasses =
      std::countr_zero(buffer::kPooledBytesMax) - std::countr_zero(buffer::kRecycledBytesMin) + 1;

  buffer* take(std::size_t capacity) {
    std::lock_guard lock(mutex_);
    buffer*& list = parked_[class_of(capacity)];
    buffer* b = list;
    if (!b) return nullptr;
    list = b->next_parked_;
    parked_bytes_ -= capacity;
    return b;
  }

  /// False: the pool is full.
  bool park(buffer* b) noexcept {
    std::lock_guard lock(mutex_);
    if (parked_bytes_ + b->capacity_ > buffer::kParkedBytesMax) return false;
    buffer*& list = parked_[class_of(b->capacity_)];
    b->next_parked_ = list;
    list = b;
    parked_bytes_ += b->capacity_;
    return true;
  }

  std::size_t parked_bytes() const noexcept {
    std::lock_guard lock(mutex_);
    return parked_bytes_;
  }

  static buffer* create(std::size_t capacity, bool recycled = false) {
    if (capacity > ~std::size_t{0} / 2) throw std::bad_alloc();
    std::size_t bytes = buffer::kAlignment + capacity;
    if (capacity >= kPagesBytesMin) return ::new (allocate_pages(bytes)) buffer(capacity);
    bool aligned = recycled || !is_small(capacity);
    void* at = aligned ? ::operator new(bytes, std::align_val_t{buffer::kAlignment}) : ::operator new(bytes);
    auto* b = ::new (at) buffer(capacity);
    b->recycled_ = recycled;
    return b;
  }
  static void destroy(buffer* b) noexcept {
    std::size_t capacity = b->capacity_;
    bool recycled = b->recycled_;
    b->~buffer();
    if (capacity >= kPagesBytesMin) free_pages(b, buffer::kAlignment + capacity);
    else if (is_small(capacity) && !recycled) ::operator delete(b);
    else ::operator delete(b, std::align_val_t{buffer::kAlignment});
  }

  void trim() noexcept {
    for (std::size_t capacity = buffer::kRecycledBytesMin; capacity <= buffer::kPooledBytesMax; capacity *= 2)
      while (buffer* b = take(capacity)) destroy(b);
  }

 private:
  /// Single records that are held for long: aligning them would cost as much memory again.
  static bool is_small(std::size_t capacity) { return capacity < 4096; }
  static int class_of(std::size_t capacity) {
    return std::countr_zero(capacity) - std::countr_zero(buffer::kRecycledBytesMin);
  }

  mutable std::mutex mutex_;
  buffer* parked_[kClasses] = {};
  std::size_t parked_bytes_ = 0;
};

namespace {

/// Never destroyed: buffers may be dropped by statics of the program.
buffer_pool& pool() {
  static buffer_pool& p = *new buffer_pool;
  return p;
}

/// Without those that only make_recycled() gives.
bool is_pooled(std::size_t capacity) {
  return std::has_single_bit(capacity) && capacity >= buffer::kPooledBytesMin && capacity <= buffer::kPooledBytesMax;
}

/// Up to the next power of two, so that they come from the pool; larger ones to whole pages; small ones as asked.
std::size_t rounded(std::size_t bytes) {
  if (bytes > buffer::kPooledBytesMax && bytes < ~std::size_t{0} / 4)
    return pages_bytes(bytes + buffer::kAlignment) - buffer::kAlignment;
  return bytes > buffer::kPooledBytesMin / 2 && bytes <= buffer::kPooledBytesMax ? std::bit_ceil(bytes) : bytes;
}

}  // namespace

buffer* buffer::make(std::size_t bytes) {
  std::size_t capacity = rounded(bytes);
  buffer* b = is_pooled(capacity) ? pool().take(capacity) : nullptr;
  if (!b) return buffer_pool::create(capacity);
  b->references_.store(1, std::memory_order_relaxed);  // nobody else knows it yet
  return b;
}

std::size_t buffer::recycled_bytes(std::size_t bytes) noexcept {
  return kAlignment + (bytes <= kPooledBytesMax ? std::bit_ceil(std::max(bytes, kRecycledBytesMin)) : rounded(bytes));
}

buffer* buffer::make_recycled(std::size_t bytes) {
  std::size_t capacity = recycled_bytes(bytes) - kAlignment;
  buffer* b = capacity <= kPooledBytesMax ? pool().take(capacity) : nullptr;
  if (!b) return buffer_pool::create(capacity, true);
  b->references_.store(1, std::memory_order_relaxed);
  return b;
}

buffer* buffer::make_exact(std::size_t bytes) {
  return bytes < kPagesBytesMin ? buffer_pool::create(bytes)
                                : buffer_pool::create(pages_bytes(bytes + kAlignment) - kAlignment);
}

void buffer::charge(byte_account* account, std::size_t bytes) noexcept {
  account_ = account;
  charged_bytes_ = bytes;
  account->retain();
}

void buffer::forget(std::size_t begin, std::size_t end) noexcept {
  if (capacity_ > kStockedBytesMax) forget_pages(data() + begin, data() + end);
}

void buffer::recycle() noexcept {
  // The block first: whoever is woken by the credit may ask for just such a buffer.
  auto* account = std::exchange(account_, nullptr);
  auto bytes = std::exchange(charged_bytes_, 0);
  bool pooled = is_pooled(capacity_) || (recycled_ && capacity_ <= kPooledBytesMax);
  if (!pooled || !pool().park(this)) buffer_pool::destroy(this);
  if (!account) return;
  account->release(bytes);
  account->unretain();
}

std::size_t buffer::parked_bytes() noexcept { return pool().parked_bytes(); }
void buffer::trim() noexcept {
  pool().trim();
  trim_stock();
}

}  // namespace sluice::lib
