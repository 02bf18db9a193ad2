// SPDX-License-Identifier: Apache-2.0
// Reference-counted bytes into which files are read and of which records are slices. Buffers are recycled, so that a
// read does not cause page faults again. The library maps buffers of 128 KiB and more itself instead of using malloc:
// when they are freed and not recycled, their memory returns to the system.
//
//   buffer* b = buffer::make(1 << 20);                  // one reference, the caller's
//   b->charge(&account, b->capacity());                 // `account` is credited when the buffer is freed
//   b->add_references(records);                         // one atomic operation for a whole block of slices
//   …
//   b->drop_references(1);                              // the last one recycles the buffer and credits the account
//
// The count is in the object, instead of a shared_ptr, so that the references of a block of 256 slices are added and
// dropped by one operation each, and a slice has 24 bytes.
// Owns:   its bytes, and a reference on its account.
// Units:  bytes.
// Thread: references may be added and dropped on any thread. The owner of the buffer writes bytes before it adds the
//         references of those who read them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice::lib {

/// The account to which the bytes of a buffer are charged (a line of the memory ledger), so that they can be credited
/// when the buffer is freed.
class byte_account {
 public:
  /// Credits `bytes` that were charged before. Thread: any; may resume tasks that wait for memory.
  virtual void release(std::size_t bytes) noexcept = 0;
  /// Counts references: an account lives as long as a buffer is charged to it.
  virtual void retain() noexcept = 0;
  virtual void unretain() noexcept = 0;

 protected:
  ~byte_account() = default;
};

/// Made by make() or make_exact(); destroyed when the last reference is dropped.
class buffer {
 public:
  /// Sizes between these are rounded up to a power of two, and recycled.
  static constexpr std::size_t kPooledBytesMin = std::size_t{16} << 10;
  static constexpr std::size_t kPooledBytesMax = std::size_t{4} << 20;
  /// Sizes up to this are rounded up by 15 bytes or a sixteenth at most, and recycled.
  static constexpr std::size_t kSmallBytesMax = kPooledBytesMin;
  static constexpr std::size_t kRecycledBytesMin = 64;
  /// The alignment of the bytes. 16 for buffers of up to kSmallBytesMax from make() or make_exact(), because aligning
  /// records would cost half of their size.
  static constexpr std::size_t kAlignment = 64;
  /// The memory of a small buffer in addition to its bytes: its header and the allocator's.
  static constexpr std::size_t kOverheadBytes = 32 + 16;

  /// A buffer of at least `bytes`, uninitialized, with one reference. The size may be rounded up: charge capacity().
  /// Errors: std::bad_alloc.
  static buffer* make(std::size_t bytes);
  /// A buffer of `bytes` with at most a small remainder, for bytes that are held for a long time.
  static buffer* make_exact(std::size_t bytes);
  /// Does what make() does, but aligns small buffers, too: their size is a power of two from kRecycledBytesMin on. For
  /// buffers that are made and freed as often as batches.
  static buffer* make_recycled(std::size_t bytes);
  /// The memory used by make_recycled(bytes), including its header.
  static std::size_t recycled_bytes(std::size_t bytes) noexcept;
  /// The memory used by this buffer, including its header.
  std::size_t memory_bytes() const noexcept { return header_bytes() + capacity_; }
  /// Credits `account` with `bytes` when the last reference is dropped. At most once per buffer.
  void charge(byte_account* account, std::size_t bytes) noexcept;

  char* data() noexcept { return reinterpret_cast<char*>(this) + header_bytes(); }
  const char* data() const noexcept { return reinterpret_cast<const char*>(this) + header_bytes(); }
  std::size_t capacity() const noexcept { return capacity_; }

  // Relaxed: a thread that adds references owns one already. acq_rel: the thread that drops the last reference sees all
  // other threads' accesses to the bytes before it recycles them.
  void add_references(std::uint32_t n) noexcept { references_.fetch_add(n, std::memory_order_relaxed); }
  void drop_references(std::uint32_t n) noexcept {
    // A caller that has all references needs no atomic exchange: no other thread can add one.
    if (references_.load(std::memory_order_acquire) == n || references_.fetch_sub(n, std::memory_order_acq_rel) == n)
      recycle();
  }
  /// Returns true if the caller's reference is the only one, so that it may write the bytes.
  bool unshared() const noexcept { return references_.load(std::memory_order_acquire) == 1; }

  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  /// Declares that the bytes [begin, end) are not needed any more; their contents are lost. If the buffer is too large
  /// to be recycled, their memory is returned to the system now.
  void forget(std::size_t begin, std::size_t end) noexcept;

  /// The number of bytes of freed buffers kept for reuse, over all sizes; at most kParkedBytesMax.
  static std::size_t parked_bytes() noexcept;
  static constexpr std::size_t kParkedBytesMax = std::size_t{16} << 20;
  /// Returns the kept buffers to the system.
  static void trim() noexcept;

 private:
  buffer(std::size_t capacity, bool aligned) noexcept : aligned_(aligned), capacity_(capacity) {}
  ~buffer() = default;
  void recycle() noexcept;
  std::size_t header_bytes() const noexcept { return aligned_ ? kAlignment : sizeof(buffer); }
  friend struct buffer_access;

  std::atomic<std::uint32_t> references_{1};
  bool aligned_;
  bool is_in_arena_ = false;  ///< its memory is a part of a larger one (base/memory/buffer_arena.hpp)
  std::size_t capacity_;
  union {
    byte_account* account_ = nullptr;
    buffer* next_parked_;  ///< of a buffer without references
  };
  std::size_t charged_bytes_ = 0;
};

static_assert(sizeof(buffer) == 32);

/// Owns one reference of a buffer.
class buffer_ref {
 public:
  buffer_ref() noexcept = default;
  /// Takes over one reference of the caller.
  explicit buffer_ref(buffer* b) noexcept : buffer_(b) {}
  buffer_ref(const buffer_ref& o) noexcept : buffer_(o.buffer_) {
    if (buffer_) buffer_->add_references(1);
  }
  buffer_ref(buffer_ref&& o) noexcept : buffer_(o.buffer_) { o.buffer_ = nullptr; }
  buffer_ref& operator=(buffer_ref o) noexcept {
    buffer* mine = buffer_;
    buffer_ = o.buffer_;
    o.buffer_ = mine;
    return *this;
  }
  ~buffer_ref() {
    if (buffer_) buffer_->drop_references(1);
  }

  buffer* get() const noexcept { return buffer_; }
  buffer* operator->() const noexcept { return buffer_; }
  explicit operator bool() const noexcept { return buffer_ != nullptr; }
  /// Returns the buffer and its reference to the caller.
  buffer* release() noexcept {
    buffer* b = buffer_;
    buffer_ = nullptr;
    return b;
  }

 private:
  buffer* buffer_ = nullptr;
};

}  // namespace sluice::lib
