// SPDX-License-Identifier: Apache-2.0
// slice: a range of bytes of a reference-counted buffer. Records and lines are slices, so that they are not copied out
// of the buffer that the file was read into.
//
//   stream<line> my_own_stage(stream<record> in);       // r->view() is a std::string_view into the file's buffer
//
// Owns:   one reference on its buffer. A slice keeps the whole buffer in memory, so stages that hold slices for a long
//         time (shuffle) first give each a copy of its bytes (sluice_compact).
// Thread: the same as for std::shared_ptr: different slices of one buffer may be used on different threads.
// Cost:   24 bytes. A copy adds a reference; a move adds none and empties the source; consecutive slices of one buffer
//         are destroyed with one atomic operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>

#include "sluice/base/assert.hpp"
#include "sluice/base/buffer.hpp"

namespace sluice::lib {

class slice {
 public:
  using sluice_text = void;  ///< prints as text; kind::text
  static constexpr bool trivially_relocatable = true;

  slice() noexcept = default;
  /// Takes ownership of one reference on `owner`. A null owner is for bytes that outlive every slice (a literal, a
  /// mapping).
  slice(buffer* owner, const char* data, std::size_t size) noexcept : owner_(owner), data_(data), size_(size) {}
  slice(const slice& o) noexcept : owner_(o.owner_), data_(o.data_), size_(o.size_) {
    if (owner_) owner_->add_references(1);
  }
  slice(slice&& o) noexcept : owner_(o.owner_), data_(o.data_), size_(o.size_) {
    o.owner_ = nullptr;
    o.size_ = 0;
  }
  slice& operator=(slice o) noexcept {
    swap(o);
    return *this;
  }
  ~slice() {
    if (owner_) owner_->drop_references(1);
  }

  /// A slice of a new buffer with a copy of `bytes`. Errors: std::bad_alloc.
  static slice copy_of(std::string_view bytes);

  const char* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::string_view view() const noexcept { return {data_, size_}; }
  operator std::string_view() const noexcept { return view(); }
  buffer* owner() const noexcept { return owner_; }
  /// Returns the bytes [first, first + n) of this slice, with their own reference. REQUIRES: first + n <= size().
  slice part(std::size_t first, std::size_t n) const noexcept {
    SLUICE_REQUIRES(first <= size_ && n <= size_ - first, "a part of a slice must lie within it");
    if (owner_) owner_->add_references(1);
    return {owner_, data_ + first, n};
  }
  void swap(slice& o) noexcept {
    slice mine(owner_, data_, size_);
    owner_ = o.owner_;
    data_ = o.data_;
    size_ = o.size_;
    o.owner_ = mine.owner_;
    o.data_ = mine.data_;
    o.size_ = mine.size_;
    mine.owner_ = nullptr;  // the references have moved
  }
  friend bool operator==(const slice& a, const slice& b) noexcept { return a.view() == b.view(); }

  // Kernels of the element type, called once per block (element/type.hpp).
  static void sluice_destroy(slice* p, std::size_t n) noexcept;
  static std::size_t sluice_footprint(const slice* p, std::size_t n) noexcept;
  /// Gives each slice of a much larger buffer a copy of its bytes, so that it does not keep that buffer in memory.
  static void sluice_compact(slice* p, std::size_t n);

 private:
  buffer* owner_ = nullptr;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

/// One record of a record file (TFRecord, fixed length), without its framing.
struct record : slice {
  static constexpr std::string_view sluice_name = "record";
  using slice::slice;
  record(slice s) noexcept : slice(std::move(s)) {}  // NOLINT: a record is a slice with a name
};

/// One line of a text file, without its line end.
struct line : slice {
  static constexpr std::string_view sluice_name = "line";
  using slice::slice;
  line(slice s) noexcept : slice(std::move(s)) {}  // NOLINT
};

static_assert(sizeof(record) == 24 && sizeof(line) == 24);

/// The place of a record or line within a buffer.
struct span_of_bytes {
  std::uint32_t offset;
  std::uint32_t size;
};

/// Constructs n records or lines at `to`, as slices of `owner` at the places `where`. Adds their references in one
/// operation.
template <class Slice> void cut(buffer* owner, const span_of_bytes* where, std::size_t n, Slice* to) noexcept {
  owner->add_references(static_cast<std::uint32_t>(n));
  const char* base = owner->data();
  for (std::size_t i = 0; i != n; ++i)
    ::new (static_cast<void*>(to + i)) Slice(owner, base + where[i].offset, where[i].size);
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::line;
using lib::record;
using lib::slice;

}  // namespace sluice
