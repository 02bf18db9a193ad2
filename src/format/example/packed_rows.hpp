// SPDX-License-Identifier: Apache-2.0
// Packed rows: the members of a tf.Example that a schema reads, checked, in few bytes. A stage that buffers elements
// holds packed rows instead of structures with allocations of their own, or instead of records with features that nobody
// reads.
//
//   packed_layout layout(schema);
//   packed_rows rows(layout);
//   status why = parser.pack(record, rows);    // checks the record as example_parser::parse does
//   rows.row(0)                                // packed_reader builds a row of columns from it
//
// packed_layout.hpp describes the bytes of a row. A row belongs to one process and one schema.
// Owns:   the bytes.
// Thread: none; it belongs to its user.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "format/example/packed_layout.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/base/buffer.hpp"

namespace sluice::lib {

class packed_rows {
 public:
  /// `layout` must outlive it.
  explicit packed_rows(const packed_layout& layout) : layout_(layout) {}
  packed_rows(const packed_rows&) = delete;
  ~packed_rows() {
    if (bytes_) bytes_->drop_references(1);
  }

  const packed_layout& layout() const { return layout_; }
  std::size_t rows() const { return offsets_.size() - 1; }
  std::size_t bytes() const { return size_; }
  std::string_view row(std::size_t i) const {
    const auto at = static_cast<std::size_t>(offsets_[i]);
    return {bytes_->data() + at, static_cast<std::size_t>(offsets_[i + 1]) - at};
  }
  /// Row i consists of the bytes offsets()[i] … offsets()[i + 1] of owner().
  const std::int32_t* offsets() const { return offsets_.data(); }
  /// The buffer that has the bytes of all rows; null before the first byte.
  buffer* owner() const { return bytes_; }
  /// Provides room for n bytes in all.
  void reserve(std::size_t n) {
    if (!bytes_ || bytes_->capacity() < n) grow(n);
  }
  /// Forgets all rows, and leaves their memory to those who hold references on owner().
  void leave() {
    if (bytes_) std::exchange(bytes_, nullptr)->drop_references(1);
    clear();
  }
  /// Forgets all rows, and keeps the memory.
  void clear() {
    size_ = 0;
    offsets_.resize(1);
  }

  // Writing a row: begin_row(), its values in any order, then end_row() or drop_row().

  /// Makes room for the fixed part, whose bytes are not initialized. Errors: those of add().
  void begin_row() { add(layout_.fixed_bytes()); }
  /// Room for n more bytes, which are part of the present row. Errors: throws resource_exhausted for more than 2 GiB, and
  /// std::bad_alloc; drop_row() then.
  char* add(std::size_t n) {
    if (!bytes_ || bytes_->capacity() - size_ < n) grow(n);
    return bytes_->data() + std::exchange(size_, size_ + n);
  }
  void add_bytes(const void* bytes, std::size_t n) {
    char* at = add(n);
    if (n) std::memcpy(at, bytes, n);
  }
  /// The number of bytes of the present row.
  std::uint32_t row_bytes() const {
    return static_cast<std::uint32_t>(size_ - static_cast<std::size_t>(offsets_.back()));
  }
  /// The fixed part of the present row. Adding bytes may move it.
  char* fixed() { return bytes_->data() + offsets_.back(); }
  void end_row() { offsets_.push_back(static_cast<std::int32_t>(size_)); }
  /// Removes an unfinished row.
  void drop_row() { size_ = static_cast<std::size_t>(offsets_.back()); }

 private:
  void grow(std::size_t n);

  const packed_layout& layout_;
  buffer* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::vector<std::int32_t> offsets_ = {0};
};

namespace detail {

/// A row in the sense of example_rows.hpp, which writes a packed row.
class packed_row {
 public:
  explicit packed_row(packed_rows& to) : to_(to) { to_.begin_row(); }

  void clear() {
    to_.drop_row();
    to_.begin_row();
  }
  void forget_owner() {}
  void begin(std::size_t i) {
    place_ = to_.layout()[i];
    begin_ = to_.row_bytes();
  }
  void room(std::size_t) {}
  void bytes(std::size_t, std::string_view value) {
    if (place_.how == packed_layout::way::values) {
      const auto size = static_cast<std::uint32_t>(value.size());
      to_.add_bytes(&size, sizeof size);
    }
    to_.add_bytes(value.data(), value.size());
  }
  void floats(std::size_t i, const char* raw, std::size_t count) { numbers(i * 4, raw, count * 4); }
  void int64(std::size_t i, std::int64_t value) { numbers(i * 8, &value, 8); }
  void end(std::size_t count) {
    if (place_.how == packed_layout::way::inside) return;
    if (place_.how == packed_layout::way::text) count = to_.row_bytes() - begin_;
    write_header({begin_, static_cast<std::uint32_t>(count)});
  }
  void missing(std::size_t i) {
    place_ = to_.layout()[i];
    write_header({0, packed_layout::kNoValue});
  }
  template <class T> void object(std::size_t, T) { SLUICE_ASSERT(false, "sparse and ragged tensors are not packed"); }

 private:
  /// REQUIRES: the example has no more numbers than the slot takes.
  void numbers(std::size_t at, const void* raw, std::size_t size) {
    if (place_.how != packed_layout::way::inside) return to_.add_bytes(raw, size);
    if (size) std::memcpy(to_.fixed() + place_.at + at, raw, size);
  }
  void write_header(packed_layout::header h) { std::memcpy(to_.fixed() + place_.at, &h, sizeof h); }

  packed_rows& to_;
  packed_layout::place place_{};
  std::uint32_t begin_ = 0;
};

}  // namespace detail

}  // namespace sluice::lib
