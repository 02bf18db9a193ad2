// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/buffer.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "base/memory/buffer_arena.hpp"
#include "base/memory/buffer_lists.hpp"
#include "base/memory/pages.hpp"
#include "base/memory/recycling.hpp"
#include "base/memory/small_buffers.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib {

namespace {

/// The aligned buffers of recycled sizes: a list for each power of two. It has a mutex and no lock-free lists, because
/// it is locked once per buffer, that is once per dozens of records.
class buffer_pool {
 public:
  static constexpr int kClasses =
      std::countr_zero(buffer::kPooledBytesMax) - std::countr_zero(buffer::kRecycledBytesMin) + 1;

  buffer* take(std::size_t capacity) noexcept {
    mutex_lock lock(mutex_);
    buffer_list& list = parked_[class_of(capacity)];
    if (list.empty()) return nullptr;
    parked_bytes_ -= capacity;
    return list.pop();
  }

  /// Returns false if the pool is full.
  bool park(buffer* b) noexcept {
    mutex_lock lock(mutex_);
    if (parked_bytes_ + b->capacity() > buffer::kParkedBytesMax) return false;
    parked_[class_of(b->capacity())].push(b);
    parked_bytes_ += b->capacity();
    return true;
  }

  std::size_t parked_bytes() const noexcept {
    mutex_lock lock(mutex_);
    return parked_bytes_;
  }

  void trim() noexcept {
    for (std::size_t capacity = buffer::kRecycledBytesMin; capacity <= buffer::kPooledBytesMax; capacity *= 2)
      while (buffer* b = take(capacity)) buffer_access::destroy(b);
  }

 private:
  static int class_of(std::size_t capacity) {
    return std::countr_zero(capacity) - std::countr_zero(buffer::kRecycledBytesMin);
  }

  mutable mutex mutex_;
  buffer_list parked_[kClasses] ABSL_GUARDED_BY(mutex_);
  std::size_t parked_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

/// Never destroyed: the program's static objects may release buffers.
buffer_pool& pool() {
  static buffer_pool& p = *new buffer_pool;
  return p;
}

struct thread_buffers;
/// Null before the thread's first buffer, and after its end: then buffers use the shared pool.
thread_local thread_buffers* t_buffers = nullptr;
thread_local bool t_buffers_ended = false;

/// A few buffers of each small class, which only this thread uses: a batch takes two when it begins and returns two
/// when it ends.
struct thread_buffers {
  static constexpr std::size_t kBytesMax = std::size_t{64} << 10;  // of one buffer
  static constexpr std::uint32_t kOfClass = 4;
  static constexpr int kClasses = std::countr_zero(kBytesMax) - std::countr_zero(buffer::kRecycledBytesMin) + 1;

  struct kept {
    buffer_list list;
    std::uint32_t count = 0;
  };
  kept classes[kClasses];
  std::size_t bytes = 0;

  thread_buffers() { t_buffers = this; }
  ~thread_buffers() {
    t_buffers = nullptr;
    t_buffers_ended = true;
    trim();
  }
  kept& of(std::size_t capacity) {
    return classes[std::countr_zero(capacity) - std::countr_zero(buffer::kRecycledBytesMin)];
  }
  buffer* take(std::size_t capacity) noexcept {
    kept& k = of(capacity);
    if (k.count == 0) return nullptr;
    --k.count;
    bytes -= capacity;
    return k.list.pop();
  }
  bool keep(buffer* b) noexcept {
    kept& k = of(b->capacity());
    if (k.count == kOfClass) return false;
    ++k.count;
    bytes += b->capacity();
    k.list.push(b);
    return true;
  }
  void trim() noexcept {
    for (kept& k : classes)
      for (; k.count; --k.count) buffer_access::destroy(k.list.pop());
    bytes = 0;
  }
};

thread_buffers* buffers_of_this_thread() {
  if (t_buffers || t_buffers_ended) return t_buffers;
  thread_local thread_buffers buffers;
  return &buffers;
}

buffer* take_pooled(std::size_t capacity) {
  if (kRecycles && capacity <= thread_buffers::kBytesMax)
    if (thread_buffers* own = buffers_of_this_thread())
      if (buffer* b = own->take(capacity)) return b;
  return pool().take(capacity);
}

bool park_pooled(buffer* b) noexcept {
  if (kRecycles && b->capacity() <= thread_buffers::kBytesMax)
    if (thread_buffers* own = buffers_of_this_thread(); own && own->keep(b)) return true;
  return pool().park(b);
}

/// Returns true if the pool accepts aligned buffers of this capacity.
bool is_pooled(std::size_t capacity) {
  return std::has_single_bit(capacity) && capacity >= buffer::kRecycledBytesMin && capacity <= buffer::kPooledBytesMax;
}

/// Returns the size in whole pages, including the header.
std::size_t in_pages(std::size_t bytes) {
  return bytes > ~std::size_t{0} / 4 ? bytes : pages_bytes(bytes + buffer::kAlignment) - buffer::kAlignment;
}

/// Returns a power of two that the pool accepts, or whole pages.
std::size_t recycled_capacity(std::size_t bytes) {
  if (bytes <= buffer::kPooledBytesMax) return std::bit_ceil(std::max(bytes, buffer::kRecycledBytesMin));
  return in_pages(bytes);
}

}  // namespace

buffer* buffer_access::create(std::size_t capacity, bool aligned) {
  if (capacity > ~std::size_t{0} / 2) throw std::bad_alloc();
  if (!aligned) return ::new (::operator new(sizeof(buffer) + capacity)) buffer(capacity, aligned);
  const std::size_t bytes = buffer::kAlignment + capacity;
  void* at =
      capacity >= kPagesBytesMin ? allocate_pages(bytes) : ::operator new(bytes, std::align_val_t{buffer::kAlignment});
  return ::new (at) buffer(capacity, aligned);
}

void buffer_access::destroy(buffer* b) noexcept {
  const std::size_t capacity = b->capacity_;
  const bool aligned = b->aligned_;
  b->~buffer();
  if (!aligned) ::operator delete(b);
  else if (capacity >= kPagesBytesMin) free_pages(b, buffer::kAlignment + capacity);
  else ::operator delete(b, std::align_val_t{buffer::kAlignment});
}

buffer* buffer_access::create_in_arena(void* at, std::size_t capacity) noexcept {
  auto* b = ::new (at) buffer(capacity, true);
  b->is_in_arena_ = true;
  return b;
}

void buffer_access::free_in_arena(buffer* b) noexcept {
  b->~buffer();
  buffer_arena::free(b);
}

buffer* buffer_access::revive(buffer* b) noexcept {
  b->references_.store(1, std::memory_order_relaxed);  // no other thread knows the buffer yet
  b->account_ = nullptr;
  return b;
}

std::size_t buffer::recycled_bytes(std::size_t bytes) noexcept { return kAlignment + recycled_capacity(bytes); }

buffer* buffer::make_recycled(std::size_t bytes) {
  const std::size_t capacity = recycled_capacity(bytes);
  buffer* b = is_pooled(capacity) ? take_pooled(capacity) : nullptr;
  return b ? buffer_access::revive(b) : buffer_access::create(capacity, true);
}

buffer* buffer::make(std::size_t bytes) {
  return bytes > kPooledBytesMin / 2 ? make_recycled(bytes) : make_exact(bytes);
}

buffer* buffer::make_exact(std::size_t bytes) {
  if (bytes > kSmallBytesMax) return buffer_access::create(bytes < kPagesBytesMin ? bytes : in_pages(bytes), true);
  const std::size_t capacity = small_buffers::rounded(bytes);
  buffer* b = small_buffers::take(capacity);
  return b ? buffer_access::revive(b) : buffer_access::create(capacity, false);
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
  // Release the block first: code that the credit resumes may request such a buffer.
  auto* account = std::exchange(account_, nullptr);
  auto bytes = std::exchange(charged_bytes_, 0);
  if (is_in_arena_) {
    buffer_access::free_in_arena(this);
  } else {
    const bool kept = aligned_ ? is_pooled(capacity_) && park_pooled(this) : small_buffers::keep(this);
    if (!kept) buffer_access::destroy(this);
  }
  if (!account) return;
  account->release(bytes);
  account->unretain();
}

std::size_t buffer::parked_bytes() noexcept {
  return pool().parked_bytes() + (t_buffers ? t_buffers->bytes : 0) + small_buffers::kept_bytes();
}
void buffer::trim() noexcept {
  if (t_buffers) t_buffers->trim();
  pool().trim();
  small_buffers::trim();
  trim_stock();
}

}  // namespace sluice::lib
