// SPDX-License-Identifier: Apache-2.0
// Counted bytes that records are cut from, recycled so that a read into them never faults pages in again.
// From 128 KiB on they are mapped, not malloc's: what is dropped and not recycled leaves the process.
//
//   buffer* b = buffer::make(1 << 20, &account);        // one reference, ours; the account holds 1 MiB for us
//   b->add_references(records);                         // one atomic operation for a whole block of slices
//   …
//   b->drop_references(1);                              // the last one returns the block and credits the account
//
// A count in the object, not a shared_ptr: a block of 256 slices of one buffer takes and returns its references in
// one operation each, and a slice is 24 bytes.
// Owns: its bytes, and a reference on its account.  Units: bytes.
// Thread: references may be taken and dropped on any thread; the bytes are the makers' until they hand out references.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice::lib {

/// Who paid for a buffer and is to be told when it is gone: the memory ledger's share of one run.
class byte_account {
 public:
  /// `bytes` that were charged are free again. Thread: any; may run user-visible wake-ups.
  virtual void release(std::size_t bytes) noexcept = 0;
  /// An account lives as long as something charged to it does.
  virtual void retain() noexcept = 0;
  virtual void unretain() noexcept = 0;

 protected:
  ~byte_account() = default;
};

class buffer {
 public:
  /// Bytes of a size that is pooled; asking for exactly one of these wastes nothing.
  static constexpr std::size_t kPooledBytesMin = std::size_t{16} << 10;
  static constexpr std::size_t kPooledBytesMax = std::size_t{4} << 20;
  static constexpr std::size_t kAlignment = 64;
  /// What a small buffer takes beyond its bytes: its header, and the allocator's.
  static constexpr std::size_t kOverheadBytes = kAlignment + 16;

  /// At least `bytes`, uninitialised, with one reference. Large ones are rounded up: charge capacity().
  static buffer* make(std::size_t bytes);
  /// The same of exactly `bytes` where that is less than pages: for what is held for long.
  static buffer* make_exact(std::size_t bytes);
  /// When the last reference goes, `account` gets `bytes` back. At most once per buffer.
  void charge(byte_account* account, std::size_t bytes) noexcept;

  char* data() noexcept { return reinterpret_cast<char*>(this) + kAlignment; }
  const char* data() const noexcept { return reinterpret_cast<const char*>(this) + kAlignment; }
  std::size_t capacity() const noexcept { return capacity_; }

  // Whoever adds already holds one, so nothing needs ordering; the last drop must see every use of the bytes before
  // they are recycled, hence acq_rel.
  void add_references(std::uint32_t n) noexcept { references_.fetch_add(n, std::memory_order_relaxed); }
  void drop_references(std::uint32_t n) noexcept {
    if (references_.fetch_sub(n, std::memory_order_acq_rel) == n) recycle();
  }
  /// True: nobody else can see the bytes, the caller may write them.
  bool unshared() const noexcept { return references_.load(std::memory_order_acquire) == 1; }

  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  /// Bytes [begin, end) are lost and not needed: of a buffer too large to be kept for reuse their memory is freed now.
  void forget(std::size_t begin, std::size_t end) noexcept;

  /// Bytes now parked for reuse, over all pooled sizes; bounded by kParkedBytesMax.
  static std::size_t parked_bytes() noexcept;
  static constexpr std::size_t kParkedBytesMax = std::size_t{16} << 20;
  /// Gives parked bytes back to the system.
  static void trim() noexcept;

 private:
  explicit buffer(std::size_t capacity) noexcept : capacity_(capacity) {}
  ~buffer() = default;
  void recycle() noexcept;
  friend class buffer_pool;

  std::atomic<std::uint32_t> references_{1};
  std::size_t capacity_;
  byte_account* account_ = nullptr;
  std::size_t charged_bytes_ = 0;
  buffer* next_parked_ = nullptr;
};

static_assert(sizeof(buffer) <= buffer::kAlignment);

/// Owns one reference of a buffer.
class buffer_ref {
 public:
  buffer_ref() noexcept = default;
  /// Takes over one reference that the caller has.
  explicit buffer_ref(buffer* b) noexcept : buffer_(b) {}
  buffer_ref(const buffer_ref& o) noexcept : buffer_(o.buffer_) {
    if (buffer_) buffer_->add_references(1);
  }
  buffer_ref(buffer_ref&& o) noexcept : buffer_(std::exchange(o.buffer_, nullptr)) {}
  buffer_ref& operator=(buffer_ref o) noexcept {
    std::swap(buffer_, o.buffer_);
    return *this;
  }
  ~buffer_ref() {
    if (buffer_) buffer_->drop_references(1);
  }

  buffer* get() const noexcept { return buffer_; }
  buffer* operator->() const noexcept { return buffer_; }
  explicit operator bool() const noexcept { return buffer_ != nullptr; }
  /// The caller takes the reference over.
  buffer* release() noexcept { return std::exchange(buffer_, nullptr); }

 private:
  buffer* buffer_ = nullptr;
};

}  // namespace sluice::lib
