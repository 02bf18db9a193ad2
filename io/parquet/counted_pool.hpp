// SPDX-License-Identifier: Apache-2.0
// Arrow's default memory pool, whose bytes are counted by a library_memory. A few free blocks are used again: rows are
// decoded and released on several threads, and the allocator would take fresh pages for each of them.
// Thread: any.
#pragma once

#include <arrow/memory_pool.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "sluice/base/mutex.hpp"
#include "sluice/io/parquet_files.hpp"

namespace sluice::lib::arrow_parquet {

class counted_pool final : public ::arrow::MemoryPool {
 public:
  using ::arrow::MemoryPool::Allocate;
  using ::arrow::MemoryPool::Free;
  using ::arrow::MemoryPool::Reallocate;

  explicit counted_pool(library_memory& account) : account_(account) {}
  counted_pool(const counted_pool&) = delete;
  ~counted_pool() override { drop_spares(); }

  ::arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override {
    const int64_t block = block_bytes(size);
    if (uint8_t* spare = take_spare(block, alignment)) {
      *out = spare;
      changed(block);
      return ::arrow::Status::OK();
    }
    if (!grown(block)) return refused(size);
    ::arrow::Status s = pool_->Allocate(block, alignment, out);
    if (!s.ok()) account_.shrink(static_cast<std::size_t>(block));
    else changed(block);
    return s;
  }
  ::arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** ptr) override {
    if (block_bytes(old_size) == block_bytes(new_size)) return ::arrow::Status::OK();
    uint8_t* moved = nullptr;
    ARROW_RETURN_NOT_OK(Allocate(new_size, alignment, &moved));
    std::memcpy(moved, *ptr, static_cast<std::size_t>(std::min(old_size, new_size)));
    Free(*ptr, old_size, alignment);
    *ptr = moved;
    return ::arrow::Status::OK();
  }
  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override {
    const int64_t block = block_bytes(size);
    changed(-block);
    if (!keep_spare({buffer, block, alignment})) release({buffer, block, alignment});
  }
  int64_t bytes_allocated() const override { return bytes_.load(std::memory_order_relaxed); }
  int64_t max_memory() const override { return most_.load(std::memory_order_relaxed); }
  int64_t total_bytes_allocated() const override { return total_.load(std::memory_order_relaxed); }
  int64_t num_allocations() const override { return allocations_.load(std::memory_order_relaxed); }
  std::string backend_name() const override { return pool_->backend_name(); }

 private:
  struct block {
    uint8_t* data;
    int64_t bytes, alignment;
  };
  /// Smaller blocks have no spares: they would cost more than the allocator.
  static constexpr int64_t kSpareBytesMin = 4096;
  static constexpr int64_t kSpareBytesMax = int64_t{2} << 20;
  static constexpr std::size_t kSparesMax = 128;

  /// Rounds up by at most a quarter, so that the blocks of similar arrays can replace each other.
  static int64_t block_bytes(int64_t size) {
    if (size < kSpareBytesMin) return size;
    const auto bytes = static_cast<std::uint64_t>(size), step = std::bit_floor(bytes) / 4;
    return static_cast<int64_t>((bytes + step - 1) / step * step);
  }
  uint8_t* take_spare(int64_t bytes, int64_t alignment) {
    if (bytes < kSpareBytesMin) return nullptr;
    mutex_lock lock(mutex_);
    for (std::size_t i = spares_.size(); i-- != 0;) {
      if (spares_[i].bytes != bytes || spares_[i].alignment != alignment) continue;
      uint8_t* data = std::exchange(spares_[i], spares_.back()).data;
      spares_.pop_back();
      spare_bytes_ -= bytes;
      return data;
    }
    return nullptr;
  }
  /// Returns false if the block is too small, or the spares have no room for it.
  bool keep_spare(const block& b) {
    if (b.bytes < kSpareBytesMin) return false;
    mutex_lock lock(mutex_);
    if (spares_.size() == kSparesMax || spare_bytes_ + b.bytes > std::min(kSpareBytesMax, bytes_allocated()))
      return false;
    spares_.push_back(b);
    spare_bytes_ += b.bytes;
    return true;
  }
  void release(const block& b) {
    pool_->Free(b.data, b.bytes, b.alignment);
    account_.shrink(static_cast<std::size_t>(b.bytes));
  }
  void drop_spares() {
    std::vector<block> all;
    {
      mutex_lock lock(mutex_);
      all.swap(spares_);
      spare_bytes_ = 0;
    }
    for (const block& b : all) release(b);
  }
  /// Charges the bytes; if they exceed the limit, the spare blocks are released first.
  bool grown(int64_t bytes) {
    if (account_.grow(static_cast<std::size_t>(bytes))) return true;
    drop_spares();
    return account_.grow(static_cast<std::size_t>(bytes));
  }
  static ::arrow::Status refused(int64_t size) {
    return ::arrow::Status::OutOfMemory(
        "decoding needs ", size,
        " bytes more than the memory budget has left: raise it, read fewer columns, or write smaller pages");
  }
  // Relaxed: the numbers are for reports.
  void changed(int64_t by) {
    const int64_t now = bytes_.fetch_add(by, std::memory_order_relaxed) + by;
    if (by <= 0) return;
    total_.fetch_add(by, std::memory_order_relaxed);
    allocations_.fetch_add(1, std::memory_order_relaxed);
    if (now > most_.load(std::memory_order_relaxed)) most_.store(now, std::memory_order_relaxed);
  }

  library_memory& account_;
  ::arrow::MemoryPool* const pool_ = ::arrow::default_memory_pool();
  std::atomic<int64_t> bytes_{0}, most_{0}, total_{0}, allocations_{0};
  mutex mutex_;
  std::vector<block> spares_ ABSL_GUARDED_BY(mutex_);  ///< free blocks, which are charged
  int64_t spare_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice::lib::arrow_parquet
