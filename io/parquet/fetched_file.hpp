// SPDX-License-Identifier: Apache-2.0
// A file of Arrow of which some parts are in memory. Reads of other bytes fail.
#pragma once

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "sluice/io/parquet_files.hpp"

namespace sluice::lib::arrow_parquet {

/// A view of one of our buffers, which it retains.
class shared_bytes final : public ::arrow::Buffer {
 public:
  shared_bytes(buffer_ref owner, const char* data, int64_t size)
      : ::arrow::Buffer(reinterpret_cast<const uint8_t*>(data), size), owner_(std::move(owner)) {}

 private:
  buffer_ref owner_;
};

class fetched_file final : public ::arrow::io::RandomAccessFile {
 public:
  using ::arrow::io::RandomAccessFile::ReadAt;

  fetched_file(std::vector<file_part> parts, std::uint64_t size_bytes)
      : parts_(std::move(parts)), size_(static_cast<int64_t>(size_bytes)) {}
  ~fetched_file() override = default;

  ::arrow::Result<int64_t> GetSize() override { return size_; }
  ::arrow::Result<std::shared_ptr<::arrow::Buffer>> ReadAt(int64_t position, int64_t n) override {
    n = std::min(n, size_ - std::min(position, size_));
    if (n <= 0) return std::make_shared<shared_bytes>(buffer_ref(), nullptr, 0);
    const file_part* part = find(position, n);
    if (!part) return not_fetched(position, n);
    return std::make_shared<shared_bytes>(part->data, bytes_at(*part, position), n);
  }
  ::arrow::Result<int64_t> ReadAt(int64_t position, int64_t n, void* out) override {
    n = std::min(n, size_ - std::min(position, size_));
    if (n <= 0) return 0;
    const file_part* part = find(position, n);
    if (!part) return not_fetched(position, n);
    std::memcpy(out, bytes_at(*part, position), static_cast<std::size_t>(n));
    return n;
  }
  ::arrow::Result<int64_t> Read(int64_t n, void* out) override {
    ARROW_ASSIGN_OR_RAISE(int64_t got, ReadAt(at_, n, out));
    at_ += got;
    return got;
  }
  ::arrow::Result<std::shared_ptr<::arrow::Buffer>> Read(int64_t n) override {
    ARROW_ASSIGN_OR_RAISE(auto got, ReadAt(at_, n));
    at_ += got->size();
    return got;
  }
  ::arrow::Status Seek(int64_t position) override {
    at_ = position;
    return ::arrow::Status::OK();
  }
  ::arrow::Result<int64_t> Tell() const override { return at_; }
  ::arrow::Status Close() override { return ::arrow::Status::OK(); }
  bool closed() const override { return false; }

 private:
  const file_part* find(int64_t position, int64_t n) const {
    const auto from = static_cast<std::uint64_t>(position), to = from + static_cast<std::uint64_t>(n);
    for (const file_part& p : parts_)
      if (p.place.offset <= from && to <= p.place.offset + p.place.bytes) return &p;
    return nullptr;
  }
  static const char* bytes_at(const file_part& part, int64_t position) {
    return part.data->data() + (static_cast<std::uint64_t>(position) - part.place.offset);
  }
  static ::arrow::Status not_fetched(int64_t position, int64_t n) {
    return ::arrow::Status::IOError("the footer and the pages disagree: ", n, " bytes at offset ", position,
                                    " are outside of the column");
  }

  const std::vector<file_part> parts_;
  const int64_t size_;
  int64_t at_ = 0;
};

}  // namespace sluice::lib::arrow_parquet
