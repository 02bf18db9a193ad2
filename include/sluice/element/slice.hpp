// SPDX-License-Identifier: Apache-2.0
// A piece of a counted buffer: how records and lines travel without being copied.
//
//   stream<line> my_own_stage(stream<record> in);       // r->view() is a std::string_view into the file's buffer
//
// 24 bytes. A copy adds a reference, a move empties its source, a run of slices of one buffer is destroyed with one
// atomic operation. A slice keeps its whole buffer in memory: what holds slices for long (shuffle) compacts them.
// Thread: as a shared_ptr: distinct slices of one buffer may be used on distinct threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>

#include "sluice/base/buffer.hpp"

namespace sluice::lib {

class slice {
 public:
  using sluice_text = void;  ///< prints as text; kind::text
  static constexpr bool trivially_relocatable = true;

  slice() noexcept = default;
  /// Takes over one reference on `owner`. A null owner: the bytes outlive every slice (a literal, a mapping).
  slice(buffer* owner, const char* data, std::size_t size) noexcept : owner_(owner), data_(data), size_(size) {}
  slice(const slice& o) noexcept : owner_(o.owner_), data_(o.data_), size_(o.size_) {
    if (owner_) owner_->add_references(1);
  }
  slice(slice&& o) noexcept
      : owner_(std::exchange(o.owner_, nullptr)), data_(o.data_), size_(std::exchange(o.size_, 0)) {}
  slice& operator=(slice o) noexcept {
    swap(o);
    return *this;
  }
  ~slice() {
    if (owner_) owner_->drop_references(1);
  }

  /// With bytes of its own, copied from `bytes`.
  static slice copy_of(std::string_view bytes);

  const char* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::string_view view() const noexcept { return {data_, size_}; }
  operator std::string_view() const noexcept { return view(); }
  buffer* owner() const noexcept { return owner_; }
  /// A piece of this piece: [first, first + n), one reference more.
  slice part(std::size_t first, std::size_t n) const noexcept {
    if (owner_) owner_->add_references(1);
    return {owner_, data_ + first, n};
  }
  void swap(slice& o) noexcept {
    std::swap(owner_, o.owner_);
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
  }
  friend bool operator==(const slice& a, const slice& b) noexcept { return a.view() == b.view(); }

  // What the engine calls once per block (element/type.hpp).
  static void sluice_destroy(slice* p, std::size_t n) noexcept;
  static std::size_t sluice_footprint(const slice* p, std::size_t n) noexcept;
  /// Gives slices of much larger buffers bytes of their own, so that holding them does not hold the buffer.
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

/// Where a reader found something within a buffer.
struct span_of_bytes {
  std::uint32_t offset;
  std::uint32_t size;
};

/// Builds n records, lines … at `to`, cut from `owner` at `where`, taking n references in one operation.
template <class Slice> void cut(buffer* owner, const span_of_bytes* where, std::size_t n, Slice* to) noexcept {
  owner->add_references(static_cast<std::uint32_t>(n));
  const char* base = owner->data();
  for (std::size_t i = 0; i != n; ++i)
    ::new (static_cast<void*>(to + i)) Slice(owner, base + where[i].offset, where[i].size);
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::line;
using lib::record;
using lib::slice;

}  // namespace sluice
