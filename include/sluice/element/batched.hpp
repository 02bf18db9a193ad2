// SPDX-License-Identifier: Apache-2.0
// batched<T>: an element that consists of rows, stored by column in Arrow's layout (element/column.hpp). A batch of
// structures has a column for each member.
//
//   batched<sample> b;
//   std::span<std::int64_t> labels = b[&sample::label];
//   for (std::string_view text : b[&sample::text]) …             // element/column_ranges.hpp has the other types
//   auto [texts, labels2] = b.columns();
//   std::span<float> v = batch_of_floats.values();               // rows that are not structures are one column
//   tensor images = b.stacked(&sample::image);                   // uint8[n,224,224,3], without a copy
//
// All batched<T> have one representation, batch_storage, so the library makes, moves and prints batches whose row type
// does not occur in the program's C++ code. A column of numbers is contiguous and 64-byte aligned, ready for vectorized
// code.
// Owns:   its columns.
// Thread: not safe for concurrent use.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sluice/base/assert.hpp"
#include "sluice/element/column.hpp"
#include "sluice/element/column_ranges.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/element/tensor.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

/// A batch without its C++ type: one pointer to the column of its rows, which is made with the first row.
struct batch_storage {
  static constexpr bool trivially_relocatable = true;

  batch_storage() = default;
  batch_storage(batch_storage&& o) noexcept : nodes_(o.nodes_) { o.nodes_ = nullptr; }
  batch_storage& operator=(batch_storage&& o) noexcept {
    batch_storage moved(std::move(o));
    // Not std::swap, whose header costs more to compile than this class.
    auto* mine = nodes_;
    nodes_ = moved.nodes_;
    moved.nodes_ = mine;
    return *this;
  }
  ~batch_storage() {
    if (nodes_) free_rows();
  }

  std::int64_t rows() const noexcept {
    return nodes_ ? static_cast<std::int64_t>(rows_column().rows() - rows_column().gone_in_front()) : 0;
  }
  bool empty() const noexcept { return rows() == 0; }
  bool has_column() const noexcept { return nodes_ != nullptr; }
  /// The column of the rows. REQUIRES: has_column(); a batch with rows has one.
  column& rows_column() noexcept {
    SLUICE_REQUIRES(has_column(), "a batch without rows may have no column");
    return *std::launder(reinterpret_cast<column*>(nodes_->data()));
  }
  const column& rows_column() const noexcept { return const_cast<batch_storage*>(this)->rows_column(); }
  /// Returns that column, and makes it if it does not exist. Errors: std::bad_alloc.
  column& make_rows(const element_type& row);
  /// The memory that the batch uses in addition to its own size.
  std::size_t memory_bytes() const noexcept {
    return nodes_ ? nodes_->memory_bytes() + rows_column().memory_bytes() : 0;
  }

  /// Moves the n rows at `from` to the end, and destroys the originals. Errors: those of column, before any row is
  /// moved.
  void append(const element_type& row, void* from, std::size_t n);
  /// Does the same for the first n rows of a block.
  void append(block& from, std::uint32_t n) {
    append(from.type(), from.data(), n);
    from.forget_front(n);
  }
  /// Moves the first n rows to uninitialized memory at `to`, and removes them (for unbatch). Errors: std::bad_alloc,
  /// and exceptions of copies; the batch is then unchanged. REQUIRES: n <= rows().
  void take_front(const element_type& row, void* to, std::size_t n);
  /// Destroys the first n rows. REQUIRES: n <= rows().
  void drop_front(std::size_t n) noexcept;

 private:
  void free_rows() noexcept;

  buffer* nodes_ = nullptr;  ///< for the columns themselves, that of the rows first
};

namespace detail {

template <class T> constexpr bool stacks() {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || is_text<T> || is_batched<T>) return true;
  else if constexpr (std::is_array_v<T>) return stacks<std::remove_extent_t<T>>();
  else if constexpr (is_list<T> || is_maybe<T> || is_array<T>) return stacks<typename T::value_type>();
  else if constexpr (is_pair<T>) return stacks<typename T::first_type>() && stacks<typename T::second_type>();
  else if constexpr (is_tuple<T>)
    return []<class... M>(std::tuple<M...>*) { return (stacks<M>() && ...); }(static_cast<T*>(nullptr));
  else if constexpr (names_itself<T>) return true;
  else if constexpr (reflectable<T>)
    return []<class... M>(std::tuple<M*...>*) {
      return (stacks<std::remove_cv_t<M>>() && ...);
    }(static_cast<member_pointers<T>*>(nullptr));
  else return false;
}

/// Returns the rows [first, first + n) of a column of `row`s as one tensor; the column is null if it has no rows.
tensor stacked(const element_type& row, const column* c, std::size_t first, std::size_t n);
tensor tensor_row(const column_range<tensor>& rows, std::size_t row);

/// Returns true if T is rejected because of one of its members.
template <class T>
inline constexpr bool has_unstackable_member = reflectable<T> && !is_text<T> && !is_batched<T> && !names_itself<T>;

/// The address of the first member, at any depth, that cannot be stacked. It is a template argument, so that the
/// compiler's error shows the name of the member.
template <class T, std::size_t I = 0> consteval auto unstackable_member() {
  constexpr auto here = std::get<I>(addresses<T>());
  using M = std::remove_cvref_t<decltype(*here)>;
  if constexpr (stacks<M>()) return unstackable_member<T, I + 1>();
  else if constexpr (has_unstackable_member<M>) return unstackable_member<M>();
  else return here;
}
/// Always false; the condition of the static_assert whose error shows `Member`.
template <auto Member> inline constexpr bool can_be_stacked = false;
}  // namespace detail

/// The types that `batch` can stack: numbers, texts, tensors, arrays, lists and optionals of them, batches, structures
/// and pairs of all these, and classes that describe themselves. Equivalent to can_stack(type_of<T>()).
template <class T> concept stackable = detail::stacks<T>();

template <class T> class batched {
 public:
  using row_type = T;
  static constexpr bool trivially_relocatable = true;

  std::int64_t size() const noexcept { return storage_.rows(); }
  bool empty() const noexcept { return storage_.empty(); }

  /// Returns the column of one member: `b[&sample::label]`.
  template <class U, class C>
    requires std::is_same_v<C, T>
  column_rows<U> operator[](U C::* m) {
    return member_rows<U>(m);
  }
  template <class U, class C>
    requires std::is_same_v<C, T>
  column_rows<const U> operator[](U C::* m) const {
    return member_rows<const U>(m);
  }

  /// Returns all rows, if they are not structures, pairs or tuples (numbers, texts, arrays …).
  column_rows<T> values()
    requires(!detail::by_member<T>)
  {
    return all_rows<T>();
  }
  column_rows<const T> values() const
    requires(!detail::by_member<T>)
  {
    return all_rows<const T>();
  }
  /// Returns all rows, of any type: structures, pairs and tuples are built as they are read.
  column_rows<const T> rows() const { return all_rows<const T>(); }
  /// The same rows: `for (const auto& row : batch)`. A row of a structure is built when the loop reaches it; a loop over
  /// columns builds none.
  auto begin() const { return rows().begin(); }
  auto end() const { return rows().end(); }
  /// Returns one row of tensors: a view, which shares the batch's bytes. Errors: throws out_of_range.
  tensor operator[](std::size_t row) const
    requires detail::is_tensor<T>
  {
    return detail::tensor_row(all_rows<const T>(), row);
  }
  /// Returns all rows as one tensor with one more dimension, sharing the batch's bytes: n rows of uint8[224,224,3]
  /// become uint8[n,224,224,3]. For rows of numbers, arrays of numbers, texts, tensors, and batches of equal size of
  /// these. A batch without rows of tensors returns float32[0]. Errors: throws invalid_argument for other rows.
  tensor stacked() const
    requires(!detail::by_member<T>)
  {
    return detail::stacked(type_of<T>(), empty() ? nullptr : &storage_.rows_column(), first(), count());
  }
  /// Does the same for a member: `b.stacked(&sample::image)`.
  template <class U, class C>
    requires std::is_same_v<C, T>
  tensor stacked(U C::* m) const {
    return detail::stacked(type_of<U>(), empty() ? nullptr : &storage_.rows_column().child(detail::column_of<T>(m)),
                           first(), count());
  }
  /// Returns all columns as a tuple of ranges, in the order of the members: `auto [text, label] = b.columns();`
  auto columns() {
    if constexpr (detail::by_member<T>) {
      return detail::member_rows<T, false>(empty() ? nullptr : &storage_.rows_column(), first(), count());
    } else {
      return std::tuple<column_rows<T>>(values());
    }
  }

  void push_back(T row) {
    alignas(T) std::byte room[sizeof(T)];
    auto* at = ::new (static_cast<void*>(room)) T(std::move(row));
    try {
      storage_.append(type_of<T>(), at, 1);
    } catch (...) {  // nothing was moved
      at->~T();
      throw;
    }
  }

  batch_storage& storage() noexcept { return storage_; }
  const batch_storage& storage() const noexcept { return storage_; }

 private:
  std::size_t count() const noexcept { return static_cast<std::size_t>(storage_.rows()); }
  std::size_t first() const noexcept { return storage_.has_column() ? storage_.rows_column().gone_in_front() : 0; }
  template <class U> column_rows<U> all_rows() const {
    return detail::rows_at<U>(empty() ? nullptr : &storage_.rows_column(), first(), count());
  }
  template <class U, class M> column_rows<U> member_rows(M m) const {
    return detail::rows_at<U>(empty() ? nullptr : &storage_.rows_column().child(detail::column_of<T>(m)), first(),
                              count());
  }

  batch_storage storage_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::batched;

}  // namespace sluice
