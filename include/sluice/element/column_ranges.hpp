// SPDX-License-Identifier: Apache-2.0
// Columns as C++ ranges: column_rows<T> is a random-access range of the values of a column of T.
//
//   numbers, enums, arrays of them, classes that describe themselves     std::span<T>
//   std::string, record, line, slice                                     a range of std::string_view
//   std::vector<U>                      a range of column_rows<const U>: std::span<const float>, or again a range
//   std::array<U, N> of such            the same, of N each
//   std::optional<U>                    a range of std::optional of what the values are
//   tensor                              a range of tensors, which share the column's bytes
//   batched<U>                          a range of column_rows<const U>
//   structures, pairs, tuples           a range of T, each made when it is read; r[&T::member] is the range of a member
//
// Owns:   nothing. A range is valid until its batch is changed or destroyed.
// Thread: any number of readers.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sluice/element/column.hpp"

namespace sluice::lib {

template <class T> class column_range;

namespace detail {

/// Returns true if a batch of T has a column for each member. The C++ counterpart of kind::structure, kind::pair and
/// kind::tuple.
template <class T>
inline constexpr bool by_member =
    is_pair<T> || is_tuple<T> || (reflectable<T> && !is_text<T> && !is_batched<T> && !is_whole<T> && !names_itself<T>);

/// Numbers, or arrays of them: the C++ counterpart of column::plain().
template <class T> constexpr bool plain() {
  if constexpr (std::is_array_v<T>) return plain<std::remove_extent_t<T>>();
  else if constexpr (is_array<T>) return plain<typename T::value_type>();
  else return std::is_arithmetic_v<T> || std::is_enum_v<T>;
}
/// The C++ counterpart of column_form::objects, at any depth. Tensors are objects if they are elements of lists, arrays
/// or optionals.
template <class T> constexpr bool keeps_objects() {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) return false;
  else if constexpr (is_text<T>) return !made_of_bytes<T>;
  else if constexpr (is_batched<T>) return keeps_objects<typename T::row_type>();
  else if constexpr (std::is_array_v<T>) return keeps_objects<std::remove_extent_t<T>>();
  else if constexpr (is_list<T> || is_maybe<T> || is_array<T>) return keeps_objects<typename T::value_type>();
  else if constexpr (is_pair<T>)
    return keeps_objects<typename T::first_type>() || keeps_objects<typename T::second_type>();
  else if constexpr (is_tuple<T>)
    return []<class... M>(std::tuple<M...>*) { return (false || ... || keeps_objects<M>()); }(static_cast<T*>(nullptr));
  else if constexpr (by_member<T>)
    return []<class... M>(std::tuple<M*...>*) {
      return (false || ... || keeps_objects<std::remove_cv_t<M>>());
    }(static_cast<member_pointers<T>*>(nullptr));
  else return true;
}
/// Returns true if the values are stored as C++ objects, so that they form a span.
template <class T>
inline constexpr bool in_place = plain<T>() || (keeps_objects<T>() && !by_member<T> && !is_batched<T> && !is_tensor<T>);

template <class T> struct rows_kind {
  using type = std::conditional_t<in_place<std::remove_const_t<T>>, std::span<T>, column_range<std::remove_const_t<T>>>;
};
}  // namespace detail

/// The type of the rows of a column of T, as listed above; of a const T if they cannot be changed.
template <class T> using column_rows = typename detail::rows_kind<T>::type;

namespace detail {

/// Returns the rows [first, first + n) of a column. The column may be null if n is 0.
template <class T> column_rows<T> rows_at(const column* c, std::size_t first, std::size_t n) {
  using V = std::remove_const_t<T>;
  if constexpr (in_place<V>) {
    if (n == 0) return {};
    const char* at = plain<V>() ? c->plain_values() : c->values();
    return {const_cast<T*>(std::launder(reinterpret_cast<const V*>(at))) + first, n};
  } else {
    return {c, first, n};
  }
}

/// Returns a new C++ value.
template <class T> T made_row(const column& c, std::size_t row) {
  alignas(T) std::byte room[sizeof(T)];
  c.make(row, 1, room, sizeof(T));
  T* made = std::launder(reinterpret_cast<T*>(room));
  struct destroyed {
    T* at;
    ~destroyed() { at->~T(); }
  } guard{made};
  return std::move(*made);
}

template <class T> struct element_of_array {
  using type = typename T::value_type;
};
template <class T, std::size_t N> struct element_of_array<T[N]> {
  using type = T;
};

template <class T> decltype(auto) row_at(const column& c, std::size_t row) {
  if constexpr (in_place<T>) {
    return (rows_at<const T>(&c, row, 1)[0]);
  } else if constexpr (is_text<T>) {
    return c.text(row);
  } else if constexpr (is_list<T> || is_batched<T>) {
    auto first = static_cast<std::size_t>(c.offsets()[row]), last = static_cast<std::size_t>(c.offsets()[row + 1]);
    if constexpr (is_list<T>) return rows_at<const typename T::value_type>(&c.child(0), first, last - first);
    else return rows_at<const typename T::row_type>(&c.child(0), first, last - first);
  } else if constexpr (is_maybe<T>) {
    using U = typename T::value_type;
    using V = std::remove_cvref_t<decltype(row_at<U>(c.child(0), row))>;
    return c.valid(row) ? std::optional<V>(row_at<U>(c.child(0), row)) : std::optional<V>();
  } else if constexpr (is_array<T> || std::is_array_v<T>) {
    std::size_t n = c.type().extent;
    return rows_at<const typename element_of_array<T>::type>(&c.child(0), row * n, n);
  } else {
    return made_row<T>(c, row);
  }
}

/// The index of the column of the member with this offset.
std::size_t column_at(const element_type& row, std::size_t offset);
template <class T, class U> std::size_t column_of(U T::* m) {
  static room<T> nothing;  // never constructed: only its addresses are used
  auto offset = reinterpret_cast<const char*>(&(nothing.value.*m)) - reinterpret_cast<const char*>(&nothing.value);
  return column_at(type_of<T>(), static_cast<std::size_t>(offset));
}

/// Calls f(static_cast<M*>(nullptr)…) for the types of the members.
template <class T, class F> auto with_member_types(F f) {
  if constexpr (is_pair<T>) {
    return f(static_cast<typename T::first_type*>(nullptr), static_cast<typename T::second_type*>(nullptr));
  } else if constexpr (is_tuple<T>) {
    return [&]<class... M>(std::tuple<M...>*) { return f(static_cast<M*>(nullptr)...); }(static_cast<T*>(nullptr));
  } else {
    return [&]<class... M>(std::tuple<M*...>*) {
      return f(static_cast<std::remove_cv_t<M>*>(nullptr)...);
    }(static_cast<member_pointers<T>*>(nullptr));
  }
}

/// Returns the columns of all members as a tuple of ranges; of const values if Const.
template <class T, bool Const> auto member_rows(const column* c, std::size_t first, std::size_t n) {
  return with_member_types<T>([=]<class... M>(M*...) {
    return [=]<std::size_t... K>(std::index_sequence<K...>) {
      return std::tuple<column_rows<std::conditional_t<Const, const M, M>>...>(
          rows_at<std::conditional_t<Const, const M, M>>(n != 0 ? &c->child(K) : nullptr, first, n)...);
    }(std::index_sequence_for<M...>{});
  });
}

}  // namespace detail

template <class T> class column_range {
 public:
  using value_type = std::remove_cvref_t<decltype(detail::row_at<T>(std::declval<const column&>(), 0))>;
  using reference = value_type;
  using size_type = std::size_t;

  class iterator {
   public:
    using value_type = column_range::value_type;
    using reference = value_type;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::input_iterator_tag;  // dereferencing returns values

    iterator() = default;
    iterator(const column* c, std::size_t row) noexcept : column_(c), row_(row) {}
    reference operator*() const { return detail::row_at<T>(*column_, row_); }
    reference operator[](difference_type n) const { return *(*this + n); }
    iterator& operator+=(difference_type n) noexcept {
      row_ += static_cast<std::size_t>(n);
      return *this;
    }
    iterator& operator-=(difference_type n) noexcept { return *this += -n; }
    iterator& operator++() noexcept { return *this += 1; }
    iterator& operator--() noexcept { return *this += -1; }
    iterator operator++(int) noexcept {
      iterator before = *this;
      *this = *this + 1;
      return before;
    }
    iterator operator--(int) noexcept {
      iterator before = *this;
      *this = *this - 1;
      return before;
    }
    friend iterator operator+(iterator i, difference_type n) noexcept { return i += n; }
    friend iterator operator+(difference_type n, iterator i) noexcept { return i += n; }
    friend iterator operator-(iterator i, difference_type n) noexcept { return i -= n; }
    friend difference_type operator-(iterator a, iterator b) noexcept {
      return static_cast<difference_type>(a.row_) - static_cast<difference_type>(b.row_);
    }
    friend bool operator==(iterator a, iterator b) noexcept { return a.row_ == b.row_; }
    friend auto operator<=>(iterator a, iterator b) noexcept { return a.row_ <=> b.row_; }

   private:
    const column* column_ = nullptr;
    std::size_t row_ = 0;
  };
  using const_iterator = iterator;

  column_range() = default;
  column_range(const column* c, std::size_t first, std::size_t n) noexcept : column_(c), first_(first), size_(n) {}

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  reference operator[](std::size_t i) const { return detail::row_at<T>(*column_, first_ + i); }
  reference front() const { return (*this)[0]; }
  reference back() const { return (*this)[size_ - 1]; }
  iterator begin() const noexcept { return {column_, first_}; }
  iterator end() const noexcept { return {column_, first_ + size_}; }

  /// For rows that are structures: the range of one member.
  template <class U, class C>
    requires std::is_same_v<C, T>
  column_rows<const U> operator[](U C::* m) const {
    return detail::rows_at<const U>(size_ ? &column_->child(detail::column_of<T>(m)) : nullptr, first_, size_);
  }
  /// For rows that are structures, pairs or tuples: the ranges of all members.
  auto columns() const
    requires detail::by_member<T>
  {
    return detail::member_rows<T, true>(column_, first_, size_);
  }

 private:
  const column* column_ = nullptr;
  std::size_t first_ = 0, size_ = 0;
};

}  // namespace sluice::lib
