// SPDX-License-Identifier: Apache-2.0
// The pieces of an element_cache (store/element_cache.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/byte_parts.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/slab.hpp"
#include "store/element_cache.hpp"

namespace sluice::lib {

/// Bytes of a piece besides its elements: itself, its entry in the map, and its input's position.
inline constexpr std::size_t kBesideBytes = 512;

/// The elements of a piece. They are rows of columns where copies of columns are cheaper: a copy of a text or a list in a
/// column needs no allocation. Large elements, and types that have no columns of bytes, are C++ objects.
class piece_elements {
 public:
  explicit piece_elements(const element_type& type) : type_(type), objects_(type) {}

  const element_type& type() const { return type_; }
  std::size_t size() const { return rows_.has_column() ? rows_.rows_column().rows() : objects_.size(); }
  /// The memory that they use.
  std::size_t memory_bytes() const { return rows_.memory_bytes() + objects_.capacity() * type_.size + owned_bytes_; }
  /// The expected number of elements. Rows make room for that many at once, where their size is known.
  void expect(std::size_t elements) { expected_ = elements; }
  /// Appends copies of the first n. Returns their number of bytes, with what they own. Errors: exceptions; nothing is
  /// appended then.
  std::size_t append(const made_elements& made, std::size_t n);
  /// Removes the last n elements, which the last append() has appended.
  void take_back(std::size_t n) noexcept;

  /// Copies the elements [first, first + n) to `out`, which has them as its live elements.
  void copy(std::size_t first, std::size_t n, slab& out) const;
  /// Appends copies of them.
  void copy(std::size_t first, std::size_t n, column& to) const;

  /// For elements to which nothing is added any more: the room that settle() takes; 0: they stay where they are.
  std::size_t settled_bytes() const;
  /// Moves them to `arena`, which has the room. memory_bytes() includes it.
  void settle(buffer_arena& arena) noexcept { rows_.rows_column().settle(arena); }

  // For a file.

  /// Elements as the bytes of a block.
  struct as_bytes {
    byte_parts parts;
    batch_storage made;  ///< rows that were built for `parts`; empty if these view the elements themselves
  };
  /// Valid until the elements change or the result is destroyed.
  as_bytes bytes() const;
  /// Reads `count` elements. Errors: data_loss; the elements must be dropped then. REQUIRES: there are no elements.
  status read(std::string_view bytes, std::uint32_t count);

 private:
  std::size_t append_rows(const made_elements& made, std::size_t n);
  std::size_t append_objects(const made_elements& made, std::size_t n);
  /// Returns true if the elements must be objects from now on.
  bool must_be_objects(const made_elements& made, std::size_t n) const;
  void become_objects();

  const element_type& type_;
  batch_storage rows_;
  slab objects_;
  std::size_t expected_ = 0;
  std::size_t owned_bytes_ = 0;  ///< by the objects
  std::size_t last_owned_ = 0;   ///< by those that the last append() has appended
};

/// A call of write_behind() and its cache share this object, because the cache may be destroyed before the call runs.
struct element_cache::writer_behind {
  mutex access;  ///< held while the call writes, so that the cache is not destroyed meanwhile
  element_cache* of ABSL_GUARDED_BY(access) = nullptr;  ///< null: it is gone
};

/// Consecutive elements. The elements of a closed piece never change, so they are read without the lock.
struct element_cache::piece {
  piece(const element_type& type, std::uint64_t first, input_position from)
      : elements(type), first_ordinal(first), position(std::move(from)) {}
  std::uint64_t end() const { return first_ordinal + count; }

  piece_elements elements;
  const std::uint64_t first_ordinal;
  const input_position position;
  std::uint64_t count = 0;
  std::size_t bytes = 0;    ///< of the elements, with what they own
  std::size_t charged = 0;  ///< bytes of memory
  time_point begun = {};
  bool is_closed = false;
  bool is_stored = false;
  bool is_loaded = true;
  stored_block stored = {};  ///< if is_stored

  /// `Room`: a slab or a column.
  template <class Room>
  copied copy_to(std::uint64_t ordinal, std::uint32_t most, std::size_t bytes_most, Room& to) const;
};

}  // namespace sluice::lib
