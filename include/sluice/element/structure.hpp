// SPDX-License-Identifier: Apache-2.0
// structure<T>: converts nested structs, pairs and tuples to the list of their leaves, and back.
//
//   struct features { std::vector<std::uint8_t> image; float weight; };
//   struct sample { std::int64_t label; features parts; };
//
//   auto [label, image, weight] = structure<sample>::flatten(s);       // references into s
//   structure<sample>::paths()                                        // {"label", "parts.image", "parts.weight"}
//   sample t = structure<sample>::pack({7, {1, 2, 3}, 0.5f});
//   std::vector<value> leaves = structure<sample>::values(s);
//   result<sample> u = structure<sample>::pack_values(leaves);        // "parts.image: expected uint8[], got string"
//
// A leaf is anything except structs, pairs and tuples: numbers, texts, lists, arrays, optionals, batches, classes that
// describe themselves. A C array is a leaf, too, and its value is a std::array. The order is that of the members; inner
// members replace their struct. In paths a member is .name, a part of a pair or tuple [1].
// Errors: a static_assert that names the member rejects types unknown to the library (a pointer, a class of the
//         program).
// See:    element/spec.hpp for shapes; flatten and pack below for types that are unknown in C++.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/base/reflect.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/spec.hpp"
#include "sluice/element/value.hpp"

namespace sluice::lib {

namespace detail {

template <class T>
inline constexpr bool is_reflected_nest = reflectable<T> && !is_text<T> && !is_batched<T> && !names_itself<T>;
template <class T> inline constexpr bool is_nest = is_reflected_nest<T> || is_pair<T> || is_tuple<T>;

/// Returns references to the leaves of x, which may be const.
template <class S> constexpr auto tie_leaves(S& x) {
  using T = std::remove_const_t<S>;
  if constexpr (!is_nest<T>) return std::tuple<S&>(x);
  else if constexpr (is_pair<T>) return std::tuple_cat(tie_leaves(x.first), tie_leaves(x.second));
  else if constexpr (is_tuple<T>) return std::apply([](auto&... m) { return std::tuple_cat(tie_leaves(m)...); }, x);
  else return with_members(x, [](auto&... m) { return std::tuple_cat(std::tuple<>(), tie_leaves(m)...); });
}

template <class T> struct leaf_value {
  using type = T;
};
template <class T, std::size_t N> struct leaf_value<T[N]> {
  using type = std::array<typename leaf_value<T>::type, N>;
};
template <class Ties> struct leaf_values;
template <class... L> struct leaf_values<std::tuple<L&...>> {
  using type = std::tuple<typename leaf_value<std::remove_const_t<L>>::type...>;
  static constexpr bool has_c_arrays = (false || ... || std::is_array_v<L>);
};
template <class T> using ties_of = decltype(tie_leaves(std::declval<T&>()));
template <class T> inline constexpr std::size_t leaf_count = std::tuple_size_v<ties_of<T>>;

template <class T> struct parts_of_nest;
template <class... M> struct parts_of_nest<std::tuple<M...>> {
  using type = std::tuple<M...>;
};
template <class A, class B> struct parts_of_nest<std::pair<A, B>> {
  using type = std::tuple<A, B>;
};
template <reflectable T> struct parts_of_nest<T> {
  template <class... M> static std::tuple<std::remove_cv_t<M>...> of(std::tuple<M*...>*);
  using type = decltype(of(static_cast<member_pointers<T>*>(nullptr)));
};

template <class Parts, std::size_t K> constexpr std::size_t leaves_before() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return (std::size_t{0} + ... + leaf_count<std::tuple_element_t<I, Parts>>);
  }(std::make_index_sequence<K>());
}

/// Returns the T whose leaves are those of the tuple from `At` on.
template <class T, std::size_t At, class Leaves> T pack_leaves(Leaves& leaves) {
  if constexpr (!is_nest<T>) {
    return std::get<At>(std::move(leaves));
  } else {
    using parts = typename parts_of_nest<T>::type;
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return T{pack_leaves<std::tuple_element_t<K, parts>, At + leaves_before<parts, K>()>(leaves)...};
    }(std::make_index_sequence<std::tuple_size_v<parts>>());
  }
}

template <class T, class U> void assign_leaf(T& to, U& from) {
  if constexpr (std::is_array_v<T>)
    for (std::size_t i = 0; i != std::extent_v<T>; ++i) assign_leaf(to[i], from[i]);
  else to = std::move(from);
}

/// Copies an array of arrays in C item by item, as a std::array needs.
template <class U, class T> U copied_leaf(const T& from) {
  if constexpr (std::is_array_v<T>) {
    U to{};
    for (std::size_t i = 0; i != std::extent_v<T>; ++i) to[i] = copied_leaf<typename U::value_type>(from[i]);
    return to;
  } else {
    return from;
  }
}

/// Always false: the condition of the static_assert whose error shows the address of the member, and so its name.
template <auto> struct member_at;
template <class> inline constexpr bool is_an_element = false;
template <auto Member> consteval bool refuse_member() {
  static_assert(is_an_element<member_at<Member>>,
                "sluice: structure: this member is no number, text, list, array, optional, batch or struct of such");
  return false;
}

// --- References. C++ does not name such members, so errors contain their index. ---

struct any_reference {
  template <class U> operator U&() const noexcept;
};
template <class T, std::size_t... Before, std::size_t... After>
constexpr bool takes_reference(std::index_sequence<Before...>, std::index_sequence<After...>) {
  return requires { T{(void(Before), any_but_self<T>{})..., any_reference{}, (void(After), any_but_self<T>{})...}; };
}
inline constexpr std::size_t kNoReference = ~std::size_t{0};
/// The index of the member that is a reference, in a structure with one reference.
template <class T, std::size_t N = 0, std::size_t K = 0> constexpr std::size_t reference_member() {
  if constexpr (N > 24) return kNoReference;
  else if constexpr (K == 0 && takes<T>(std::make_index_sequence<N>())) return kNoReference;
  else if constexpr (K == N) return reference_member<T, N + 1>();
  else if constexpr (takes_reference<T>(std::make_index_sequence<K>(), std::make_index_sequence<N - K - 1>())) return K;
  else return reference_member<T, N, K + 1>();
}
/// Always false; the compiler's error shows the struct and the index of the member.
template <class T, std::size_t Member> inline constexpr bool is_a_value = false;
template <class T, std::size_t Member> consteval bool refuse_reference() {
  static_assert(is_a_value<T, Member>, "sluice: structure: this member (from 0) is a reference; it must be a value");
  return false;
}

template <class T> consteval bool check_references();
template <class T, class... M, std::size_t... K>
consteval bool check_parts(std::tuple<M...>*, std::index_sequence<K...>) {
  return (true && ... && [] {
    if constexpr (std::is_reference_v<M>)
      static_assert(is_a_value<T, K>, "sluice: structure: this part (from 0) is a reference; it must be a value");
    return !std::is_reference_v<M> && check_references<std::remove_reference_t<M>>();
  }());
}
template <class T> consteval bool check_references() {
  if constexpr (is_reflected_nest<T>) {
    constexpr std::size_t member = reference_member<T>();
    if constexpr (member != kNoReference) {
      return refuse_reference<T, member>();
    } else {
      using parts = typename parts_of_nest<T>::type;
      return check_parts<T>(static_cast<parts*>(nullptr), std::make_index_sequence<std::tuple_size_v<parts>>());
    }
  } else if constexpr (is_pair<T> || is_tuple<T>) {
    using parts = typename parts_of_nest<T>::type;
    return check_parts<T>(static_cast<parts*>(nullptr), std::make_index_sequence<std::tuple_size_v<parts>>());
  } else {
    return true;
  }
}

template <class T> consteval bool check_nest() {
  if constexpr (!check_references<T>()) return false;
  else if constexpr (!stacks<T>()) {
    if constexpr (has_unstackable_member<T>) return refuse_member<unstackable_member<T>()>();
    else
      static_assert(stacks<T>(),
                    "sluice: structure: a part is no number, text, list, array, optional, batch or struct of such");
  }
  return true;
}

}  // namespace detail

/// Returns the paths of a type's leaves, as above. A type that is itself a leaf has one path, "".
std::vector<std::string> leaf_paths(const element_type& t);
/// Returns copies of an element's leaves. Errors: throws invalid_argument if one cannot be copied.
std::vector<value> flatten(const value& v);
std::vector<value> flatten(const element_type& t, const void* p);
/// Builds the element with these leaves, which are moved from. Errors: invalid_argument: a wrong number of leaves, or
/// "parts.image: expected uint8[], got string".
result<value> pack(const element_type& t, std::vector<value> leaves);
/// Returns the path of the first leaf in which two elements differ; nullopt if all are equal. The path is "" if the
/// element is a leaf.
std::optional<std::string> first_difference(const element_type& t, const void* a, const void* b);

template <class T> struct structure {
  static_assert(detail::check_nest<T>());

  /// References to the leaves.
  using references = detail::ties_of<T>;
  using const_references = decltype(detail::tie_leaves(std::declval<const T&>()));
  using leaves = typename detail::leaf_values<references>::type;
  static constexpr std::size_t size = std::tuple_size_v<leaves>;
  /// The names of the outermost members of a struct.
  static constexpr const auto& names()
    requires reflectable<T>
  {
    return member_names<T>;
  }

  static references flatten(T& x) { return detail::tie_leaves(x); }
  static const_references flatten(const T& x) { return detail::tie_leaves(x); }
  /// Returns copies.
  static leaves copy_leaves(const T& x) {
    return [&]<std::size_t... I>(const const_references& from, std::index_sequence<I...>) {
      return leaves(detail::copied_leaf<std::tuple_element_t<I, leaves>>(std::get<I>(from))...);
    }(flatten(x), std::make_index_sequence<size>());
  }

  static T pack(leaves all) {
    if constexpr (detail::leaf_values<references>::has_c_arrays) {
      // An array cannot be initialized from another one.
      T x{};
      [&]<std::size_t... I>(references to, std::index_sequence<I...>) {
        (detail::assign_leaf(std::get<I>(to), std::get<I>(all)), ...);
      }(flatten(x), std::make_index_sequence<size>());
      return x;
    } else {
      return detail::pack_leaves<T, 0>(all);
    }
  }

  static const std::vector<std::string>& paths() {
    static const std::vector<std::string> all = leaf_paths(type_of<T>());
    return all;
  }
  static std::vector<value> values(const T& x) { return lib::flatten(type_of<T>(), &x); }
  static result<T> pack_values(std::vector<value> all) {
    auto v = lib::pack(type_of<T>(), std::move(all));
    if (!v.ok()) return v.why();
    return std::move(v->template as<T>());
  }

  static lib::spec spec() { return spec_of(type_of<T>()); }
  /// Compares leaf by leaf, as values are compared.
  static std::partial_ordering compare(const T& a, const T& b) { return lib::compare(type_of<T>(), &a, &b); }
  static std::optional<std::string> first_difference(const T& a, const T& b) {
    return lib::first_difference(type_of<T>(), &a, &b);
  }
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::structure;

}  // namespace sluice
