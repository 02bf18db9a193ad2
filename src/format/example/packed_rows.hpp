// SPDX-License-Identifier: Apache-2.0
// Packed rows: the members of a tf.Example that a schema reads, checked, in few bytes. A stage that buffers elements
// holds packed rows instead of structures with allocations of their own, or instead of records with features that nobody
// reads.
//
//   packed_rows rows;
//   status why = parser.pack(record, rows);            // checks the record as example_parser::parse does
//   why = parser.append_packed(column, rows.row(0));   // later, once for each row
//
// A row has an entry for each slot of the schema, in any order: the slot's number and the number of values, 4 bytes each,
// then the values. Numbers have the bytes that they have in memory; a text has its size in 4 bytes, then its bytes. A
// member without a value has kNoValue as its number of values. A row belongs to one process and one schema.
// Owns:   the bytes.
// Thread: none; it belongs to its user.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/base/assert.hpp"
#include "sluice/base/buffer.hpp"

namespace sluice::lib {

class packed_rows {
 public:
  static constexpr std::uint32_t kNoValue = ~std::uint32_t{0};
  static constexpr std::size_t kHeaderBytes = 8;

  packed_rows() = default;
  packed_rows(const packed_rows&) = delete;
  ~packed_rows() {
    if (bytes_) bytes_->drop_references(1);
  }

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

  // Writing a row: entries, then end_row().

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
  /// Its size, then its bytes.
  void add_text(std::string_view text) {
    const auto size = static_cast<std::uint32_t>(text.size());
    char* at = add(sizeof size + text.size());
    std::memcpy(at, &size, sizeof size);
    if (size) std::memcpy(at + sizeof size, text.data(), size);
  }
  /// Begins an entry; the number of its values is not known yet.
  void begin_entry(std::size_t slot) {
    const std::uint32_t header[] = {static_cast<std::uint32_t>(slot), kNoValue};
    std::memcpy(add(kHeaderBytes), header, kHeaderBytes);
    count_at_ = size_ - sizeof kNoValue;
  }
  void end_entry(std::size_t count) {
    const auto n = static_cast<std::uint32_t>(count);
    std::memcpy(bytes_->data() + count_at_, &n, sizeof n);
  }
  void end_row() { offsets_.push_back(static_cast<std::int32_t>(size_)); }
  /// Removes an unfinished row.
  void drop_row() { size_ = static_cast<std::size_t>(offsets_.back()); }

 private:
  void grow(std::size_t n);

  buffer* bytes_ = nullptr;
  std::size_t size_ = 0, count_at_ = 0;
  std::vector<std::int32_t> offsets_ = {0};
};

namespace detail {

/// A row in the sense of example_parser.cpp, which writes a packed row.
class packed_row {
 public:
  explicit packed_row(packed_rows& to) : to_(to) {}

  void clear() { to_.drop_row(); }
  void forget_owner() {}
  void begin(std::size_t i) { to_.begin_entry(i); }
  void room(std::size_t) {}
  void bytes(std::size_t, std::string_view value) { to_.add_text(value); }
  void floats(std::size_t, const char* raw, std::size_t count) { to_.add_bytes(raw, count * sizeof(float)); }
  void int64(std::size_t, std::int64_t value) { to_.add_bytes(&value, sizeof value); }
  void end(std::size_t count) { to_.end_entry(count); }
  void missing(std::size_t i) { to_.begin_entry(i); }
  template <class T> void object(std::size_t, T) { SLUICE_ASSERT(false, "sparse and ragged tensors are not packed"); }

 private:
  packed_rows& to_;
};

}  // namespace detail

}  // namespace sluice::lib
