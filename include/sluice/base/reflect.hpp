// SPDX-License-Identifier: Apache-2.0
// Reflection of aggregates: the number of members, their addresses and their names, in C++20 and without a macro.
//
//   struct sample { std::string text; std::int64_t label; };
//   with_members(s, [](auto& text, auto& label) { … });
//   member_names<sample>[1]                               // "label"
//
// An array member counts once. A base class counts as the first member. Tuple-like types (std::array, std::pair) are
// not reflected, because std::get and std::tuple_size serve for them. At most 24 members. See docs/internals/decisions.
// Boost.PFR was rejected because it has no names and counts array members wrongly.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

// `fake_object` and the conversion operators below are declared but never defined; only their types and names are used.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

namespace sluice::lib {

template <class T> concept tuple_like = requires { std::tuple_size<T>::value; };

template <class T> concept reflectable = std::is_aggregate_v<T> && std::is_class_v<T> && !tuple_like<T>;

namespace detail {

/// Converts to the type of any member, but not to the aggregate itself, so that T{x} initializes a member and does not
/// copy a T.
template <class T> struct any_but_self {
  template <class U>
    requires(!std::is_same_v<U, T>)
  operator U() const noexcept;
};

/// Converts to the base classes of T only. The first initializer of an aggregate with bases initializes a base.
template <class T> struct any_base_of {
  template <class U>
    requires(std::is_base_of_v<U, T> && !std::is_same_v<U, T>)
  operator U() const noexcept;
};
template <class T> inline constexpr bool has_base = requires { T{any_base_of<T>{}}; };

template <class T, std::size_t... I> constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{(void(I), any_but_self<T>{})...}; };
}

inline constexpr std::size_t kInitialisersMax = 256;

/// The fewest initializers that T accepts: 0, unless it has a member that cannot be default-constructed.
template <class T, std::size_t N = 0> constexpr std::size_t fewest_initialisers() {
  constexpr bool is_enough = takes<T>(std::make_index_sequence<N>{});
  if constexpr (!is_enough && N < kInitialisersMax && N < 8 * sizeof(T)) {
    return fewest_initialisers<T, N + 1>();
  } else {
    static_assert(is_enough,
                  "sluice: a structure with a member that cannot be initialised by moving a value into it cannot be an "
                  "element; make it a class with a constructor");
    return N;
  }
}

/// The number of initializers that T accepts if inner braces are left out; a member `float v[4]` counts as 4.
template <class T, std::size_t N> constexpr std::size_t flat_count() {
  static_assert(N <= kInitialisersMax, "sluice: a structure with more than 256 initialisers cannot be an element");
  if constexpr (takes<T>(std::make_index_sequence<N + 1>{})) return flat_count<T, N + 1>();
  else return N;
}

template <class T, std::size_t... Before, std::size_t... In, std::size_t... After>
constexpr bool takes_braced(std::index_sequence<Before...>, std::index_sequence<In...>, std::index_sequence<After...>) {
  return requires {
    T{(void(Before), any_but_self<T>{})..., {(void(In), any_but_self<T>{})...}, (void(After), any_but_self<T>{})...};
  };
}

/// The number of flat initializers of the member whose first one has the index `At`: more than one for an array.
template <class T, std::size_t Flat, std::size_t At, std::size_t Width = 2> constexpr std::size_t width() {
  if constexpr (At + Width > Flat) {
    return 1;
  } else {
    using before = std::make_index_sequence<At>;
    using in = std::make_index_sequence<Width>;
    using after = std::make_index_sequence<Flat - At - Width>;
    using too_many = std::make_index_sequence<Flat - At - Width + 1>;
    // If later members need initializers, this cannot yet show that the member accepts none in braces.
    constexpr bool may_end_here = fewest_initialisers<T>() <= At;
    if constexpr (may_end_here && !takes_braced<T>(before{}, in{}, std::index_sequence<>{})) return 1;
    else if constexpr (takes_braced<T>(before{}, in{}, after{}) && !takes_braced<T>(before{}, in{}, too_many{}))
      return Width;
    else return width<T, Flat, At, Width + 1>();
  }
}

template <class T, std::size_t Flat, std::size_t At = 0> constexpr std::size_t count_members() {
  if constexpr (At == Flat) return 0;
  else return 1 + count_members<T, Flat, At + width<T, Flat, At>()>();
}

template <class T> struct fake {
  T value;
};
template <class T> extern const fake<T> fake_object;

/// The name of T as the compiler prints it. It differs between compilers, so only its last word is shown, and only for
/// user types.
template <class T> constexpr std::string_view pretty_type() {
  std::string_view s = __PRETTY_FUNCTION__;
  s = s.substr(s.find("T = ") + 4);
  return s.substr(0, s.find_first_of(";]"));
}

template <auto Pointer> consteval std::string_view pretty_pointer() { return __PRETTY_FUNCTION__; }

/// gcc ends in "(& fake_object<T>.fake<T>::value.T::label)", clang in "&fake_object.value.label".
template <auto Pointer> consteval std::string_view member_name() {
  std::string_view s = pretty_pointer<Pointer>();
  s = s.substr(0, s.find_first_of(";]", s.find("Pointer = ")));
  while (!s.empty() && (s.back() == ')' || s.back() == ' ')) s.remove_suffix(1);
  return s.substr(s.find_last_of(".:") + 1);
}

template <class T> constexpr std::size_t counted_members() {
  static_assert(!has_base<T>,
                "sluice: a structure with a base class cannot be an element: make the base a member, or repeat its "
                "members");
  if constexpr (has_base<T>) return 0;
  else return count_members<T, flat_count<T, fewest_initialisers<T>()>()>();
}

}  // namespace detail

template <reflectable T> inline constexpr std::size_t member_count = detail::counted_members<T>();

/// Returns f(m1, m2, …) with a reference to each member.
template <class S, class F> constexpr decltype(auto) with_members(S&& s, F&& f) {
  constexpr auto n = member_count<std::remove_cvref_t<S>>;
  static_assert(n <= 24, "sluice: a structure with more than 24 members cannot be an element; nest it");
  if constexpr (n == 0) return f();
#define SLUICE_BIND(N, ...)    \
  else if constexpr (n == N) { \
    auto& [__VA_ARGS__] = s;   \
    return f(__VA_ARGS__);     \
  }
  SLUICE_BIND(1, a)
  SLUICE_BIND(2, a, b)
  SLUICE_BIND(3, a, b, c)
  SLUICE_BIND(4, a, b, c, d)
  SLUICE_BIND(5, a, b, c, d, e)
  SLUICE_BIND(6, a, b, c, d, e, g)
  SLUICE_BIND(7, a, b, c, d, e, g, h)
  SLUICE_BIND(8, a, b, c, d, e, g, h, i)
  SLUICE_BIND(9, a, b, c, d, e, g, h, i, j)
  SLUICE_BIND(10, a, b, c, d, e, g, h, i, j, k)
  SLUICE_BIND(11, a, b, c, d, e, g, h, i, j, k, l)
  SLUICE_BIND(12, a, b, c, d, e, g, h, i, j, k, l, m)
  SLUICE_BIND(13, a, b, c, d, e, g, h, i, j, k, l, m, o)
  SLUICE_BIND(14, a, b, c, d, e, g, h, i, j, k, l, m, o, p)
  SLUICE_BIND(15, a, b, c, d, e, g, h, i, j, k, l, m, o, p, q)
  SLUICE_BIND(16, a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r)
  SLUICE_BIND(17, a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, t)
  SLUICE_BIND(18, a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, t, u)
  SLUICE_BIND(19, a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, t, u, v)
  SLUICE_BIND(20, a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, t, u, v, w)
  SLUICE_BIND(21, a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, t, u, v, w, x)
  SLUICE_BIND(22, a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, t, u, v, w, x, y)
  SLUICE_BIND(23, a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, t, u, v, w, x, y, z)
  SLUICE_BIND(24, a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, t, u, v, w, x, y, z, aa)
#undef SLUICE_BIND
}

namespace detail {

template <class T> constexpr auto addresses() {
  return with_members(fake_object<T>.value, [](auto&... m) { return std::tuple<decltype(&m)...>(&m...); });
}
template <class T, std::size_t... I> constexpr auto names(std::index_sequence<I...>) {
  return std::array<std::string_view, sizeof...(I)>{member_name<std::get<I>(addresses<T>())>()...};
}

}  // namespace detail

/// std::tuple<const M1*, const M2*, …>
template <reflectable T> using member_pointers = decltype(detail::addresses<T>());

template <reflectable T>
inline constexpr auto member_names = detail::names<T>(std::make_index_sequence<member_count<T>>{});

}  // namespace sluice::lib

#ifdef __clang__
#pragma clang diagnostic pop
#endif
