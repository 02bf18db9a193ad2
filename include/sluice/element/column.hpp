// SPDX-License-Identifier: Apache-2.0
// column: consecutive values of one type in Apache Arrow's columnar layout. The rows of a batch are one column; columns of
// structures, lists and optionals have children (docs/batch_layout.md has a picture).
//
//   const column& rows = batch.storage().rows_column();   // of a batched<sample>
//   const column& texts = rows.child(0);
//   texts.offsets()[i], texts.bytes()                     // text i is bytes()[offsets()[i] … offsets()[i + 1])
//
//   rows.child(0).append_text("abc");                     // a decoder writes a row: each member, then the row
//   rows.child(1).append_value(std::int64_t{7});
//   rows.append_row();
//
// What is Arrow's byte for byte, and may be handed over without a copy: values() of numbers, offsets(), bytes(),
// validity(). What is not: values() of bools, which are a byte each here and a bit in Arrow; columns of the form `objects`,
// which Arrow has none for. Every array begins at a multiple of 64 bytes; its capacity is one, too (the bytes behind what
// is used are not initialised).
// Owns:   its arrays, each a buffer (base/buffer.hpp): recycled, and charged where its owner charges it. The bytes of
//         texts may have other owners: slices that unbatch gave out.
// Thread: none for changes; any number of readers.
// Errors: what appends throws std::bad_alloc, or error(resource_exhausted) where a column of texts or lists would have
//         more than 2^31 - 1 bytes or elements, the most that Arrow's 32-bit offsets can say.
// Cost:   no allocation per row; arrays double. Buffers of freed batches are taken again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "sluice/base/buffer.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

/// How a column keeps its values. In brackets: Arrow's format strings (C data interface).
enum class column_form : std::uint8_t {
  values,   ///< numbers, bools, enums: values() [c C s S i I l L f g; b for bools, after conversion]
  texts,    ///< std::string, slice, record, line: offsets(), bytes() [u of strings and lines, else z]
  lists,    ///< std::vector and batch: offsets(), child(0) [+l]
  fixed,    ///< std::array: child(0), `type().extent` of its values for each row [+w:N]
  maybe,    ///< std::optional: validity(), child(0) with a value for each row; Arrow has no node for it: the child's
            ///< format, with this node's validity
  members,  ///< structures, pairs, tuples: a child for each member [+s]
  tensors,  ///< tensor, all of one spec: values() of numbers, or offsets() and bytes() of strings, as many for each row as
            ///< the spec has elements [+w, of nested sizes]
  objects,  ///< classes that describe themselves, and lists, arrays and optionals of such or of tensors: C++ objects at
            ///< values() [none]
};

/// How columns of this type keep their values. REQUIRES: can_stack(t).
column_form form_of(const element_type& t);

class tensor;
struct batch_storage;
struct tensor_spec;
enum class dtype : std::uint8_t;

class column {
 public:
  /// The most bytes of texts, and elements of lists, that a column takes: Arrow's offsets have 32 bits.
  static constexpr std::size_t kOffsetMax = 0x7fffffff;

  column(const column&) = delete;
  column& operator=(const column&) = delete;

  const element_type& type() const noexcept { return *type_; }
  column_form form() const noexcept { return form_; }
  /// Rows that the arrays have, those that are gone in front included.
  std::size_t rows() const noexcept { return rows_; }
  /// Rows at the front that do not count any more (Arrow's `offset`). Other than 0 only in the column of a batch's rows;
  /// it holds for the children of structures too, and for those of fixed lists `extent` times.
  std::size_t gone_in_front() const noexcept { return gone_; }

  /// values, objects: `type().size` bytes for each row; tensors of numbers: `row_spec()->bytes()`.
  char* values() noexcept { return main_ ? main_->data() : nullptr; }
  const char* values() const noexcept { return main_ ? main_->data() : nullptr; }
  /// texts, lists: rows() + 1 of them, the first 0. Never null. Tensors of strings: as texts with a row for each string.
  const std::int32_t* offsets() const noexcept {
    return main_ ? reinterpret_cast<const std::int32_t*>(main_->data()) : &kNoRows;
  }
  /// texts: all of them, one behind the other; null if there are none.
  const char* bytes() const noexcept { return bytes_ ? bytes_->data() : nullptr; }
  std::string_view text(std::size_t row) const noexcept {
    auto* at = offsets() + row;
    return {bytes() + at[0], static_cast<std::size_t>(at[1] - at[0])};
  }
  /// maybe: bit row % 8 of byte row / 8, least significant first, is 1 where there is a value.
  const std::uint8_t* validity() const noexcept {
    return main_ ? reinterpret_cast<const std::uint8_t*>(main_->data()) : nullptr;
  }
  bool valid(std::size_t row) const noexcept { return (validity()[row / 8] >> (row % 8) & 1) != 0; }
  /// maybe: how many rows have none.
  std::size_t absent() const noexcept { return absent_; }

  /// tensors: what all rows are. Null as long as there are none.
  const tensor_spec* row_spec() const noexcept { return form_ == column_form::tensors && rows_ ? &spec() : nullptr; }
  /// The rows [first, first + n) as one tensor, [n, …], which shares this column's bytes. REQUIRES: form tensors, n != 0.
  tensor tensor_of(std::size_t first, std::size_t n) const;

  std::size_t children() const noexcept { return child_count_; }
  /// Errors: throws invalid_argument, unless k < children().
  column& child(std::size_t k) {
    if (k >= child_count_) refuse("a value for a child that it does not have");
    return children_[k];
  }
  const column& child(std::size_t k) const { return const_cast<column*>(this)->child(k); }

  /// Numbers, and fixed lists of them at any depth, are plain: the numbers without a gap, at plain_values().
  bool plain() const noexcept { return plain_; }
  char* plain_values() noexcept;
  const char* plain_values() const noexcept { return const_cast<column*>(this)->plain_values(); }

  /// The buffers behind values(), offsets() or validity(), and behind bytes(); null if they are empty. Who adds a reference
  /// may read them after the batch is gone.
  buffer* main_buffer() const noexcept { return main_; }
  buffer* bytes_buffer() const noexcept { return bytes_; }

  /// Memory of this column and its children in bytes: their buffers, and what the objects of its rows own (their
  /// descriptor's `footprint` when they were appended).
  std::size_t memory_bytes() const noexcept;

  // --- One row at the end, for decoders. A column of structures or fixed lists has a row when all its children have
  // theirs, and append_row() was called; so do lists with append_list, optionals with append_valid.

  /// Makes room for n more rows. Texts and lists make room for offsets only.
  void reserve(std::size_t n);
  // Errors of these: throws invalid_argument where the column has another form, or values of another size.

  /// values: `type().size` bytes.
  void append_value(const void* value) { append_values(value, 1); }
  /// REQUIRES: T is what the column's values are: `append_value(std::int64_t{7})`, not `append_value(7)`.
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void append_value(const T& value) {
    append_values<T>(&value, 1);
  }
  /// The same with n of them.
  void append_values(const void* values, std::size_t n);
  /// The same; returns their bytes, not initialised, to be filled in place.
  char* append_values(std::size_t n);
  template <class T> void append_values(const void* values, std::size_t n) {
    const std::size_t at = rows_ * sizeof(T), size = n * sizeof(T);
    if (value_bytes_ != sizeof(T)) refuse("values of another size");
    if (size > kShort || !main_ || main_->capacity() < at + size) return append_values(values, n);
    copy_short(main_->data() + at, static_cast<const char*>(values), size);
    rows_ += n;
  }
  void append_text(std::string_view text) {
    const std::size_t at = used_bytes(), end = at + text.size();
    if (form_ != column_form::texts) refuse("a text");
    if (text.size() > kShort || !bytes_ || bytes_->capacity() < end || end > kOffsetMax || !main_ ||
        main_->capacity() < (rows_ + 2) * sizeof(std::int32_t))
      return append_any_text(text);
    copy_short(bytes_->data() + at, text.data(), text.size());
    writable_offsets()[++rows_] = static_cast<std::int32_t>(end);
  }
  /// tensors: a copy of its bytes. Errors: invalid_argument where the rows before are of another spec; says both.
  void append_tensor(const tensor& row);
  /// tensors of numbers: a row of this spec; returns its bytes, not initialised, to be filled in place. Errors: as above.
  char* append_tensor(const tensor_spec& spec);
  /// lists: of the values that were appended to child(0) since the last list.
  void append_list();
  /// maybe: true after a value was appended to child(0); false appends an empty one itself.
  void append_valid(bool valid);
  /// members, fixed.
  void append_row() {
    if (form_ != column_form::members && form_ != column_form::fixed) refuse("a row of members");
    ++rows_;
  }

  // The same for many rows.

  /// texts: text i is bytes[offsets[i]] … bytes[offsets[i + 1]]. REQUIRES: 0 <= offsets[0], and none is less than the one
  /// before.
  void append_texts(const char* bytes, const std::int32_t* offsets, std::size_t n);
  /// lists: list i has offsets[i + 1] - offsets[i] values; all of them were appended to child(0) before. REQUIRES: as above.
  void append_lists(const std::int32_t* offsets, std::size_t n);
  /// lists: n of `size` values each; all of them were appended to child(0) before.
  void append_lists_of(std::size_t n, std::size_t size);
  /// maybe: row i has the bit first + i of `bits`; null: all are valid. Values for all n rows were appended to child(0)
  /// before, empty ones where there is none.
  void append_valid_bits(const std::uint8_t* bits, std::size_t first, std::size_t n);
  /// n rows of what the type has as its empty value: 0, "", no elements, no value, and members that are so. REQUIRES: not
  /// of the form objects.
  void append_empty(std::size_t n);
  /// Have its children the values of all its rows, and of no more? What was appended last may be a row in the making.
  bool is_whole() const noexcept;
  /// Removes what is behind the first n rows, in the children too, also of a row that was not completed. REQUIRES: n <=
  /// rows().
  void truncate(std::size_t n) noexcept;

  // --- Many rows.

  /// Bytes that append(from, n, stride, room) will allocate before it moves the first row, and those that the moved
  /// objects own. Buffers that it frees meanwhile are not deducted. `room`: the rows that are expected in the end (at least those there are, and n), for which room is made
  /// where their size is known. `thrifty`: as little as possible. Errors: throws invalid_argument where tensors are not of
  /// one spec: it says the row, the member, and both specs.
  std::size_t growth(const void* from, std::size_t n, std::size_t stride, std::size_t room, bool thrifty = false);
  /// Appends the n rows at `from`, `stride` bytes apart, and destroys the originals. Errors: before any row is moved.
  /// REQUIRES: growth() was called last, with the same arguments.
  void append(void* from, std::size_t n, std::size_t stride);
  /// Appends copies of the rows [first, first + n) of a column of the same type. REQUIRES: its values can be copied.
  void append_copies(const column& from, std::size_t first, std::size_t n);
  /// Appends the rows [first, first + n) of another column. Objects are moved, and `from` does not own them afterwards:
  /// it must not be read, except for rows after them. REQUIRES: `from` still owns the objects of these rows, and of no
  /// row before them.
  void append_from(column& from, std::size_t first, std::size_t n);
  /// Makes C++ values of the rows [first, first + n) at uninitialised `to`. Texts that are slices share the bytes;
  /// everything else is copied, but objects are moved and are not of this column any more. Errors: exceptions; there are
  /// no values at `to` then.
  void take(std::size_t first, std::size_t n, void* to, std::size_t stride);
  /// The same of copies. REQUIRES: values can be copied.
  void make(std::size_t first, std::size_t n, void* to, std::size_t stride) const;
  /// Removes the n first rows, and destroys their objects that take() and append_from() have not moved.
  void drop_front(std::size_t n) noexcept;

 private:
  friend struct batch_storage;
  enum class giving : std::uint8_t { copies, moved };
  enum class part : std::uint8_t { all, without_objects, objects };

  /// Its children, at any depth, are made in consecutive nodes from `free_nodes` on.
  column(const element_type& type, column*& free_nodes);
  static std::size_t nodes(const element_type& type);
  /// Destroys all objects that it owns, also those of an incomplete row, and drops its buffers.
  void release() noexcept;
  void destroy_objects(std::size_t first, std::size_t last) noexcept;
  /// Moves the objects of n rows to `to`; the column does not own them any more. All objects that leave a column alive
  /// leave it here. REQUIRES: first == objects_gone_.
  void move_objects(std::size_t first, std::size_t n, void* to, std::size_t stride);
  /// The rows [first, first + n), the first ones that it owns, own nothing any more.
  void forget_objects(std::size_t first, std::size_t n) noexcept;

  // Growing: what comes is measured, then the arrays that are too small are planned, then made.
  void forget_plan() noexcept;
  void measure(const void* from, std::size_t n, std::size_t stride);
  void measure_fixed(std::size_t n);
  void measure_batch(const batch_storage& b, std::size_t at);
  void measure_column(const column& from, std::size_t first, std::size_t n);
  std::size_t plan_growth(double ratio, bool thrifty, std::size_t room);
  void grow();
  std::size_t main_bytes(std::size_t rows) const noexcept;
  void move_main(std::size_t wanted);
  void ensure_main(std::size_t rows);
  void ensure_bytes(std::size_t bytes);
  void append_any_text(std::string_view text);
  [[noreturn]] void refuse(std::string_view what) const;

  // In: the arrays are large enough.
  void put(void* from, std::size_t n, std::size_t stride);
  void put_texts(const void* from, std::size_t n, std::size_t stride);
  void put_tensors(const void* from, std::size_t n, std::size_t stride);
  void put_tensors_of(const column& from, std::size_t first, std::size_t n);
  void put_strings(const tensor& t);
  void put_lists(const void* from, std::size_t n, std::size_t stride);
  void put_batches(void* from, std::size_t n, std::size_t stride);
  void put_maybes(const void* from, std::size_t n, std::size_t stride);
  void put_column(column& from, std::size_t first, std::size_t n, giving how);
  void append_column(column& from, std::size_t first, std::size_t n, giving how);
  void destroy_copied(void* from, std::size_t n, std::size_t stride) const;
  void set_valid(std::size_t row, bool valid) noexcept;
  void add_plain_rows(std::size_t n) noexcept;

  // Out.
  void give(std::size_t first, std::size_t n, void* to, std::size_t stride, giving how);
  void give_part(std::size_t first, std::size_t n, void* to, std::size_t stride, giving how, part what);
  void take_back(std::size_t n, void* to, std::size_t stride, part what) noexcept;
  void give_tensors(std::size_t first, std::size_t n, void* to, std::size_t stride) const;
  void give_lists(std::size_t first, std::size_t n, void* to, std::size_t stride);
  void give_maybes(std::size_t first, std::size_t n, void* to, std::size_t stride);
  void give_batches(std::size_t first, std::size_t n, void* to, std::size_t stride, giving how);

  // Of tensors (column_tensors.cpp). Their spec is in the room of one more node, at children_.
  void make_spec();
  tensor_spec& spec() const noexcept;
  bool has_strings() const noexcept;
  std::size_t row_elements() const noexcept;
  std::size_t main_bytes_of_tensors(std::size_t rows) const noexcept;
  std::size_t used_string_bytes() const noexcept;
  void match(dtype d, std::span<const std::int64_t> shape, std::size_t at);
  void measure_tensors(const void* from, std::size_t n, std::size_t stride);

  std::int32_t* writable_offsets() noexcept { return reinterpret_cast<std::int32_t*>(main_->data()); }
  std::size_t used_bytes() const noexcept { return static_cast<std::size_t>(offsets()[rows_]); }

  /// memcpy of up to kShort bytes, without the call. Pieces overlap, so that sizes near each other take the same branches.
  static void copy_short(char* to, const char* from, std::size_t n) noexcept {
    if (n > 64) return void(std::memcpy(to, from, n));
    if (n > 32) return copy_ends<32>(to, from, n);
    if (n >= 16) return copy_ends<16>(to, from, n);
    if (n >= 8) return copy_ends<8>(to, from, n);
    if (n >= 4) return copy_ends<4>(to, from, n);
    for (std::size_t i = 0; i != n; ++i) to[i] = from[i];
  }
  template <std::size_t N> static void copy_ends(char* to, const char* from, std::size_t n) noexcept {
    std::memcpy(to, from, N);
    std::memcpy(to + n - N, from + n - N, N);
  }

  static constexpr std::int32_t kNoRows = 0;
  static constexpr std::size_t kShort = 256;

  const element_type* type_;
  column* children_ = nullptr;
  buffer* main_ = nullptr;
  buffer* bytes_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t gone_ = 0;
  std::size_t absent_ = 0;
  std::size_t objects_gone_ = 0;                    ///< objects of rows before this one were moved or destroyed
  std::size_t owned_bytes_ = 0;                     ///< of the objects that it owns: their footprint
  std::size_t more_rows_ = 0;                       ///< those that the next append brings
  std::size_t more_bytes_ = 0;                      ///< of texts, and those that objects own
  std::size_t main_wanted_ = 0, bytes_wanted_ = 0;  ///< capacities that grow() gives
  std::uint32_t child_count_ = 0;
  std::uint32_t value_bytes_ = 0;  ///< of the form `values`; else 0
  column_form form_;
  bool plain_ = false;      ///< numbers, or arrays of them: values without a gap
  bool fixed_size_ = true;  ///< the room that n rows take does not depend on them
  bool has_objects_ = false;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::column;

}  // namespace sluice
