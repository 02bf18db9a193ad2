// SPDX-License-Identifier: Apache-2.0
// column: consecutive values of one type in Apache Arrow's columnar layout. The rows of a batch are one column. Columns
// of structures, lists and optionals have children (docs/batch_layout.md has a picture).
//
//   const column& rows = batch.storage().rows_column();   // of a batched<sample>
//   const column& texts = rows.child(0);
//   texts.offsets()[i], texts.bytes()                     // text i is bytes()[offsets()[i] … offsets()[i + 1])
//
//   rows.child(0).append_text("abc");                     // a decoder writes a row: each member, then the row
//   rows.child(1).append_value(std::int64_t{7});
//   rows.append_row();
//
// These have Arrow's exact bytes, and can be shared without a copy: values() of numbers, offsets(), bytes(),
// validity(). These do not: values() of bools, which are one byte each here and one bit in Arrow; columns of the form
// `objects`, which do not exist in Arrow. Every array begins at a multiple of 64 bytes, and its capacity is a multiple
// of 64. The bytes after the used part are not initialized.
// Owns:   its arrays, each a buffer (base/buffer.hpp): recycled, and charged if its owner charges it. The bytes of
//         texts may have other owners: slices that unbatch returned.
// Thread: not safe for concurrent changes; any number of readers.
// Errors: functions that append throw std::bad_alloc, or error(resource_exhausted) if a column of texts or lists would
//         have more than 2^31 - 1 bytes or elements, the limit of Arrow's 32-bit offsets.
// Cost:   no allocation per row; arrays double. Buffers of freed batches are reused.
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

/// The form in which a column stores its values. Arrow's format strings are in brackets (C data interface).
enum class column_form : std::uint8_t {
  values,   ///< numbers, bools, enums: values() [c C s S i I l L f g; b for bools, after conversion]
  texts,    ///< std::string, slice, record, line: offsets(), bytes() [u of strings and lines, else z]
  lists,    ///< std::vector and batch: offsets(), child(0) [+l]
  fixed,    ///< std::array: child(0), `type().extent` of its values for each row [+w:N]
  maybe,    ///< std::optional: validity(), child(0) with a value for each row; Arrow has no node for it: the child's
            ///< format, with this node's validity
  members,  ///< structures, pairs, tuples: a child for each member [+s]
  tensors,  ///< tensor, all of one spec: values() of numbers, or offsets() and bytes() of strings; each row has the
            ///< number of elements of the spec [+w, of nested sizes]
  objects,  ///< classes that describe themselves, and lists, arrays and optionals of such or of tensors: C++ objects at
            ///< values() [none]
};

/// The form of columns of this type. REQUIRES: can_stack(t).
column_form form_of(const element_type& t);

class buffer_arena;
class tensor;
struct batch_storage;
struct tensor_spec;
enum class dtype : std::uint8_t;

class column {
 public:
  /// The largest number of bytes of texts, and of elements of lists, in a column: Arrow's offsets have 32 bits.
  static constexpr std::size_t kOffsetMax = 0x7fffffff;

  column(const column&) = delete;
  column& operator=(const column&) = delete;

  const element_type& type() const noexcept { return *type_; }
  column_form form() const noexcept { return form_; }
  /// The number of rows in the arrays, including those removed at the front.
  std::size_t rows() const noexcept { return rows_; }
  /// The number of rows removed at the front (Arrow's `offset`). Not 0 only in the column of a batch's rows. It also
  /// applies to the children of structures, and to those of fixed lists `extent` times.
  std::size_t gone_in_front() const noexcept { return gone_; }

  /// values, objects: `type().size` bytes for each row; tensors of numbers: `row_spec()->bytes()`.
  char* values() noexcept { return main_ ? main_->data() : nullptr; }
  const char* values() const noexcept { return main_ ? main_->data() : nullptr; }
  /// texts, lists: rows() + 1 offsets, the first 0. Never null. Tensors of strings: like texts, with a row for each
  /// string.
  const std::int32_t* offsets() const noexcept {
    return main_ ? reinterpret_cast<const std::int32_t*>(main_->data()) : &kNoRows;
  }
  /// texts: the bytes of all texts, consecutively; null if empty.
  const char* bytes() const noexcept { return bytes_ ? bytes_->data() : nullptr; }
  std::string_view text(std::size_t row) const noexcept {
    auto* at = offsets() + row;
    return {bytes() + at[0], static_cast<std::size_t>(at[1] - at[0])};
  }
  /// maybe: bit row % 8 of byte row / 8, least significant first, is 1 if the row has a value.
  const std::uint8_t* validity() const noexcept {
    return main_ ? reinterpret_cast<const std::uint8_t*>(main_->data()) : nullptr;
  }
  bool valid(std::size_t row) const noexcept { return (validity()[row / 8] >> (row % 8) & 1) != 0; }
  /// maybe: the number of rows without a value.
  std::size_t absent() const noexcept { return absent_; }

  /// tensors: the spec of all rows. Null without rows.
  const tensor_spec* row_spec() const noexcept { return form_ == column_form::tensors && rows_ ? &spec() : nullptr; }
  /// Returns the rows [first, first + n) as one tensor, [n, …], which shares this column's bytes. REQUIRES: form
  /// tensors, n != 0.
  tensor tensor_of(std::size_t first, std::size_t n) const;

  std::size_t children() const noexcept { return child_count_; }
  /// Errors: throws invalid_argument, unless k < children().
  column& child(std::size_t k) {
    if (k >= child_count_) refuse("a value for a child that it does not have");
    return children_[k];
  }
  const column& child(std::size_t k) const { return const_cast<column*>(this)->child(k); }

  /// Numbers, and fixed lists of them at any depth, are plain: the numbers are stored without gaps, at plain_values().
  bool plain() const noexcept { return plain_; }
  char* plain_values() noexcept;
  const char* plain_values() const noexcept { return const_cast<column*>(this)->plain_values(); }

  /// The buffers of values(), offsets() or validity(), and of bytes(); null if they are empty. A caller that adds a
  /// reference may read them after the batch is destroyed.
  buffer* main_buffer() const noexcept { return main_; }
  buffer* bytes_buffer() const noexcept { return bytes_; }

  /// The memory of this column and its children in bytes: their buffers, and the memory that the objects of its rows
  /// own (the `footprint` when they were appended).
  std::size_t memory_bytes() const noexcept;

  // --- Appending one row, for decoders. A column of structures or fixed lists has a row when all its children have
  // their part and append_row() was called. Lists need append_list, optionals append_valid.

  /// Makes room for n more rows. Texts and lists make room for offsets only.
  void reserve(std::size_t n);
  // Errors of these: throws invalid_argument if the column has another form, or values of another size.

  /// values: `type().size` bytes.
  void append_value(const void* value) { append_values(value, 1); }
  /// REQUIRES: T is the type of the column's values: `append_value(std::int64_t{7})`, not `append_value(7)`.
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void append_value(const T& value) {
    append_values<T>(&value, 1);
  }
  /// Does the same for n values.
  void append_values(const void* values, std::size_t n);
  /// Appends n values and returns their bytes, not initialized, to be filled in place.
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
  /// tensors: copies its bytes. Errors: invalid_argument, with both specs, if the previous rows have another spec.
  void append_tensor(const tensor& row);
  /// tensors of numbers: appends a row of this spec; returns its bytes, not initialized, to be filled in place. Errors:
  /// the same.
  char* append_tensor(const tensor_spec& spec);
  /// lists: completes a list of the values that were appended to child(0) since the last list.
  void append_list();
  /// maybe: true after a value was appended to child(0); with false it appends an empty value itself.
  void append_valid(bool valid);
  /// members, fixed.
  void append_row() {
    if (form_ != column_form::members && form_ != column_form::fixed) refuse("a row of members");
    ++rows_;
  }

  // Appending many rows.

  /// texts: text i is bytes[offsets[i]] … bytes[offsets[i + 1]]. REQUIRES: 0 <= offsets[0], and the offsets do not
  /// decrease.
  void append_texts(const char* bytes, const std::int32_t* offsets, std::size_t n);
  /// lists: list i has offsets[i + 1] - offsets[i] values. REQUIRES: all of them were appended to child(0); the offsets
  /// do not decrease.
  void append_lists(const std::int32_t* offsets, std::size_t n);
  /// lists: n lists of `size` values each. REQUIRES: all of them were appended to child(0).
  void append_lists_of(std::size_t n, std::size_t size);
  /// maybe: row i has the bit first + i of `bits`; null: all are valid. REQUIRES: values for all n rows were appended
  /// to child(0), empty ones for rows without a value.
  void append_valid_bits(const std::uint8_t* bits, std::size_t first, std::size_t n);
  /// Appends n rows of the type's empty value: 0, "", no elements, no value, and members with their empty values.
  /// REQUIRES: the form is not objects.
  void append_empty(std::size_t n);
  /// Returns true if its children have the values of all its rows, and no more. Otherwise a row is incomplete.
  bool is_whole() const noexcept;
  /// Removes everything after the first n rows, also in the children, and also an incomplete row. REQUIRES: n <=
  /// rows().
  void truncate(std::size_t n) noexcept;
  /// For rows that stay for a long time: the room that settle() takes. REQUIRES: no part has the form objects or tensors.
  std::size_t settled_bytes() const noexcept;
  /// Moves all arrays to buffers of their sizes in `arena`, which has the room. Readers of the former arrays share them.
  /// REQUIRES: as settled_bytes().
  void settle(buffer_arena& arena) noexcept;

  // --- Many rows.

  /// Returns the number of bytes that append(from, n, stride, room) will allocate before it moves the first row, plus
  /// those that the moved objects own. Buffers that it frees meanwhile are not deducted. `room`: the expected final
  /// number of rows (at least the current number, and n); room is made for them if their size is known. `thrifty`:
  /// allocates as little as possible. Errors: throws invalid_argument if tensors have different specs, with the row,
  /// the member, and both specs.
  std::size_t growth(const void* from, std::size_t n, std::size_t stride, std::size_t room, bool thrifty = false);
  /// Appends the n rows at `from`, `stride` bytes apart, and destroys the originals. Errors are thrown before any row
  /// is moved. REQUIRES: growth() was the last call, with the same arguments.
  void append(void* from, std::size_t n, std::size_t stride);
  /// Appends copies of the n values at `from`, `stride` bytes apart. Errors are thrown before any row is appended.
  /// REQUIRES: no part has the form objects, or is a batch.
  void append_copies_of(const void* from, std::size_t n, std::size_t stride);
  /// Appends copies of the rows [first, first + n) of a column of the same type. REQUIRES: the objects in it, if
  /// any, can be copied.
  void append_copies(const column& from, std::size_t first, std::size_t n);
  /// Appends the rows [first, first + n) of another column. Objects are moved, and `from` does not own them afterwards:
  /// only later rows of it may be read. REQUIRES: `from` still owns the objects of these rows, and of no row before
  /// them.
  void append_from(column& from, std::size_t first, std::size_t n);
  /// Builds C++ values of the rows [first, first + n) at uninitialized `to`. Texts that are slices share the bytes.
  /// Everything else is copied, except objects, which are moved out of this column. Errors: exceptions; no values exist
  /// at `to` then.
  void take(std::size_t first, std::size_t n, void* to, std::size_t stride);
  /// Does the same with copies, also of types that C++ only moves and a column stores by member. Errors: also
  /// kInvalidArgument for objects that cannot be copied.
  void make(std::size_t first, std::size_t n, void* to, std::size_t stride) const;
  /// Removes the first n rows, and destroys those of their objects that take() and append_from() have not moved.
  void drop_front(std::size_t n) noexcept;

 private:
  friend struct batch_storage;
  enum class giving : std::uint8_t { copies, moved };
  enum class part : std::uint8_t { all, without_objects, objects };

  /// Its children, at any depth, are built in consecutive nodes from `free_nodes` on.
  column(const element_type& type, column*& free_nodes);
  static std::size_t nodes(const element_type& type);
  /// Destroys all objects that it owns, even those of an incomplete row, and releases its buffers.
  void release() noexcept;
  void destroy_objects(std::size_t first, std::size_t last) noexcept;
  /// Moves the objects of n rows to `to`; the column no longer owns them. Every object that leaves a column alive
  /// passes through this function. REQUIRES: first == objects_gone_.
  void move_objects(std::size_t first, std::size_t n, void* to, std::size_t stride);
  /// Gives up ownership of the objects of the rows [first, first + n), which are the first ones that it owns.
  void forget_objects(std::size_t first, std::size_t n) noexcept;

  // Growing: the new rows are measured, then the arrays that are too small are planned, then allocated.
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

  // Appending: the arrays are large enough.
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

  // Removing.
  void give(std::size_t first, std::size_t n, void* to, std::size_t stride, giving how);
  void give_part(std::size_t first, std::size_t n, void* to, std::size_t stride, giving how, part what);
  void take_back(std::size_t n, void* to, std::size_t stride, part what) noexcept;
  void give_tensors(std::size_t first, std::size_t n, void* to, std::size_t stride) const;
  void give_lists(std::size_t first, std::size_t n, void* to, std::size_t stride);
  void give_maybes(std::size_t first, std::size_t n, void* to, std::size_t stride);
  void give_batches(std::size_t first, std::size_t n, void* to, std::size_t stride, giving how);

  // Tensors (column_tensors.cpp). Their spec uses the room of one more node, at children_.
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

  /// memcpy of up to kShort bytes, without the call. Pieces overlap, so that similar sizes use the same branches.
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
  std::size_t owned_bytes_ = 0;                     ///< the footprint of the objects that it owns
  std::size_t more_rows_ = 0;                       ///< rows that the next append adds
  std::size_t more_bytes_ = 0;                      ///< of texts, and those that objects own
  std::size_t main_wanted_ = 0, bytes_wanted_ = 0;  ///< capacities that grow() allocates
  std::uint32_t child_count_ = 0;
  std::uint32_t value_bytes_ = 0;  ///< for the form `values`; else 0
  column_form form_;
  bool plain_ = false;      ///< numbers, or arrays of them: values without gaps
  bool fixed_size_ = true;  ///< the memory of n rows does not depend on their contents
  bool has_objects_ = false;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::column;

}  // namespace sluice
