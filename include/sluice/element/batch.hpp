// SPDX-License-Identifier: Apache-2.0
// batched<T>: an element that consists of rows, stored by column. A batch of structures is a structure of arrays.
//
//   batched<sample> b;
//   std::span<std::int64_t> labels = b[&sample::label];
//   auto [texts, labels2] = b.columns();
//   std::span<float> v = batch_of_floats.values();               // rows that are not structures are one column
//
// All batched<T> have one representation, batch_storage, so that the library makes, moves and prints batches whose row
// type no C++ code of the program names. A column of numbers is contiguous and 64-byte aligned, ready for vectorised
// code.
// Owns:   its columns.
// Thread: none.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/element/slab.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

/// A batch without its C++ type: one slab for each member, if the rows are structures, pairs or tuples; one slab
/// otherwise.
struct batch_storage {
  static constexpr bool trivially_relocatable = true;

  std::int64_t rows = 0;
  std::vector<slab> columns;

  batch_storage() = default;
  batch_storage(batch_storage&& o) noexcept : rows(std::exchange(o.rows, 0)), columns(std::move(o.columns)) {}
  batch_storage& operator=(batch_storage&& o) noexcept {
    rows = std::exchange(o.rows, 0);
    columns = std::move(o.columns);
    return *this;
  }

  /// Makes room for n more rows of the type `row`, and, the first time, the columns. Errors: std::bad_alloc.
  void reserve(const element_type& row, std::size_t n);
  /// Moves the n rows at `from` to the end, and destroys the originals. Errors: std::bad_alloc, before any row is
  /// moved.
  void append(const element_type& row, void* from, std::size_t n);
  /// The same with the first n rows of a block.
  void append(block& from, std::uint32_t n) {
    append(from.type(), from.data(), n);
    from.forget_front(n);
  }
  /// Moves the first n rows to uninitialised memory at `to`, and removes them (for unbatch). REQUIRES: n <= rows.
  void take_front(const element_type& row, void* to, std::size_t n) noexcept;
  /// Destroys the first n rows. REQUIRES: n <= rows.
  void drop_front(const element_type& row, std::size_t n) noexcept;
};

namespace detail {
/// The index of the column of the member with this offset.
std::size_t column_at(const element_type& row, std::size_t offset);

/// Does a batch of T have a column for each member? The C++ side of kind::structure, kind::pair and kind::tuple.
template <class T>
inline constexpr bool by_member =
    is_pair<T> || is_tuple<T> || (reflectable<T> && !is_text<T> && !is_batched<T> && !requires { T::sluice_name; });

template <class T> constexpr bool stacks() {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || is_text<T> || is_batched<T>) return true;
  else if constexpr (std::is_array_v<T>) return stacks<std::remove_extent_t<T>>();
  else if constexpr (is_list<T> || is_maybe<T> || is_array<T>) return stacks<typename T::value_type>();
  else if constexpr (is_pair<T>) return stacks<typename T::first_type>() && stacks<typename T::second_type>();
  else if constexpr (is_tuple<T>)
    return []<class... M>(std::tuple<M...>*) { return (stacks<M>() && ...); }(static_cast<T*>(nullptr));
  else if constexpr (requires { T::sluice_name; }) return true;
  else if constexpr (reflectable<T>)
    return []<class... M>(std::tuple<M*...>*) {
      return (stacks<std::remove_cv_t<M>>() && ...);
    }(static_cast<member_pointers<T>*>(nullptr));
  else return false;
}

/// Is T refused because of one of its members?
template <class T>
inline constexpr bool has_unstackable_member =
    reflectable<T> && !is_text<T> && !is_batched<T> && !requires { T::sluice_name; };

/// The address of the first member, at any depth, that cannot be stacked. It is used as a template argument, so that
/// the compiler's error shows the name of the member.
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

/// What `batch` can stack: numbers, texts, arrays, lists and optionals of them, batches, structures and pairs of all
/// these, and classes that describe themselves. The same answer as can_stack(type_of<T>()).
template <class T> concept stackable = detail::stacks<T>();

template <class T> class batched {
 public:
  using row_type = T;
  static constexpr bool trivially_relocatable = true;

  std::int64_t size() const noexcept { return storage_.rows; }
  bool empty() const noexcept { return storage_.rows == 0; }

  /// The column of one member: `b[&sample::label]`.
  template <class U, class C>
    requires std::is_same_v<C, T>
  std::span<U> operator[](U C::* m) {
    return column<U>(detail::column_at(type_of<T>(), offset_of(m)));
  }
  template <class U, class C>
    requires std::is_same_v<C, T>
  std::span<const U> operator[](U C::* m) const {
    return column<U>(detail::column_at(type_of<T>(), offset_of(m)));
  }

  /// All rows as a span, if they are not structures, pairs or tuples (numbers, texts, arrays …).
  std::span<T> values()
    requires(!detail::by_member<T>)
  {
    return column<T>(0);
  }
  std::span<const T> values() const
    requires(!detail::by_member<T>)
  {
    return column<T>(0);
  }
  /// All columns as a tuple of spans, in the order of the members: `auto [text, label] = b.columns();`
  auto columns() {
    if constexpr (detail::is_pair<T>) {
      return std::tuple(column<typename T::first_type>(0), column<typename T::second_type>(1));
    } else if constexpr (detail::is_tuple<T>) {
      return [this]<class... M, std::size_t... I>(std::tuple<M...>*, std::index_sequence<I...>) {
        return std::tuple(this->template column<M>(I)...);
      }(static_cast<T*>(nullptr), std::make_index_sequence<std::tuple_size_v<T>>{});
    } else if constexpr (detail::by_member<T>) {
      return [this]<class... M, std::size_t... I>(std::tuple<M*...>*, std::index_sequence<I...>) {
        return std::tuple(this->template column<std::remove_cv_t<M>>(I)...);
      }(static_cast<member_pointers<T>*>(nullptr), std::make_index_sequence<member_count<T>>{});
    } else {
      return std::tuple(column<T>(0));
    }
  }

  void push_back(T row) {
    alignas(T) std::byte room[sizeof(T)];
    auto* at = ::new (static_cast<void*>(room)) T(std::move(row));
    storage_.append(type_of<T>(), at, 1);
  }

  batch_storage& storage() noexcept { return storage_; }
  const batch_storage& storage() const noexcept { return storage_; }

 private:
  template <class U> std::span<U> column(std::size_t k) const noexcept {
    if (storage_.rows == 0) return {};
    return {std::launder(reinterpret_cast<U*>(storage_.columns[k].begin())), static_cast<std::size_t>(storage_.rows)};
  }
  template <class U, class C> static std::size_t offset_of(U C::* m) noexcept {
    static detail::room<T> nothing;  // never constructed: only its addresses are used
    return static_cast<std::size_t>(reinterpret_cast<const char*>(&(nothing.value.*m)) -
                                    reinterpret_cast<const char*>(&nothing.value));
  }

  batch_storage storage_;
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::batched;

}  // namespace sluice
