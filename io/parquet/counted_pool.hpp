// SPDX-License-Identifier: Apache-2.0
// Arrow's default memory pool, whose bytes are counted by a library_memory.
#pragma once

#include <arrow/memory_pool.h>

#include <atomic>
#include <string>

#include "sluice/io/parquet_files.hpp"

namespace sluice::lib::arrow_parquet {

class counted_pool final : public ::arrow::MemoryPool {
 public:
  using ::arrow::MemoryPool::Allocate;
  using ::arrow::MemoryPool::Free;
  using ::arrow::MemoryPool::Reallocate;

  explicit counted_pool(library_memory& account) : account_(account) {}

  ::arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override {
    if (!account_.grow(static_cast<std::size_t>(size))) return refused(size);
    ::arrow::Status s = pool_->Allocate(size, alignment, out);
    if (!s.ok()) account_.shrink(static_cast<std::size_t>(size));
    else changed(size);
    return s;
  }
  ::arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** ptr) override {
    if (new_size > old_size && !account_.grow(static_cast<std::size_t>(new_size - old_size))) return refused(new_size);
    ::arrow::Status s = pool_->Reallocate(old_size, new_size, alignment, ptr);
    const int64_t less = s.ok() ? old_size - new_size : new_size - old_size;
    if (less > 0) account_.shrink(static_cast<std::size_t>(less));
    if (s.ok()) changed(new_size - old_size);
    return s;
  }
  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override {
    pool_->Free(buffer, size, alignment);
    account_.shrink(static_cast<std::size_t>(size));
    changed(-size);
  }
  int64_t bytes_allocated() const override { return bytes_.load(std::memory_order_relaxed); }
  int64_t max_memory() const override { return most_.load(std::memory_order_relaxed); }
  int64_t total_bytes_allocated() const override { return total_.load(std::memory_order_relaxed); }
  int64_t num_allocations() const override { return allocations_.load(std::memory_order_relaxed); }
  std::string backend_name() const override { return pool_->backend_name(); }

 private:
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
};

}  // namespace sluice::lib::arrow_parquet
