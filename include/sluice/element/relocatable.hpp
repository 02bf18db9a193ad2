// SPDX-License-Identifier: Apache-2.0
// trivially_relocatable_v<T>: true if a T can be moved by copying its bytes, without destroying the original.
//
// True for trivially copyable types; unique_ptr (default deleter), shared_ptr, vector; optional, pair and tuple of
// relocatable types; classes with `static constexpr bool trivially_relocatable = true`; and aggregates whose members
// are all relocatable. False for std::string (libstdc++'s short string points into itself), map, and all other types.
// One case cannot be recognized: an aggregate with a user-written destructor and a member such as shared_ptr. If such a
// class must not be relocated, give it `trivially_relocatable = false`. clang's builtin is not used, because it is
// false for a structure with a unique_ptr.
#pragma once

#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/base/reflect.hpp"

namespace sluice::lib {

namespace detail {

template <class T> constexpr bool relocatable();

/// If T is not trivially destructible although all its members are, it has its own destructor, which may use its
/// address.
template <class T, class... M> constexpr bool relocatable_aggregate(std::tuple<M*...>*) {
  constexpr bool has_own_destructor =
      !std::is_trivially_destructible_v<T> && (std::is_trivially_destructible_v<M> && ...);
  return (relocatable<std::remove_cv_t<M>>() && ...) && std::is_nothrow_move_constructible_v<T> && !has_own_destructor;
}

template <class T> struct known_relocatable : std::false_type {};
template <class T> struct known_relocatable<std::unique_ptr<T>> : std::true_type {};
template <class T> struct known_relocatable<std::shared_ptr<T>> : std::true_type {};
template <class T> struct known_relocatable<std::vector<T>> : std::true_type {};
template <class T> struct known_relocatable<std::optional<T>> : std::bool_constant<relocatable<T>()> {};
template <class A, class B>
struct known_relocatable<std::pair<A, B>> : std::bool_constant<relocatable<A>() && relocatable<B>()> {};

template <class... M> struct known_relocatable<std::tuple<M...>> : std::bool_constant<(relocatable<M>() && ...)> {};

template <class T> constexpr bool relocatable() {
  if constexpr (requires { T::trivially_relocatable; }) return T::trivially_relocatable;
  else if constexpr (std::is_trivially_copyable_v<T> || known_relocatable<T>::value) return true;
  else if constexpr (std::is_array_v<T>) return relocatable<std::remove_extent_t<T>>();
  else if constexpr (tuple_like<T> && requires { typename T::value_type; })
    return relocatable<typename T::value_type>();
  else if constexpr (reflectable<T>) return relocatable_aggregate<T>(static_cast<member_pointers<T>*>(nullptr));
  else return false;
}

}  // namespace detail

template <class T> inline constexpr bool trivially_relocatable_v = detail::relocatable<T>();

}  // namespace sluice::lib
