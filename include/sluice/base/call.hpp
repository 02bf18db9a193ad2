// SPDX-License-Identifier: Apache-2.0
// Calls a user's function, as std::invoke does: f(element), or a member of the element.
//
//   detail::call(f, element)                 // a function, a lambda, &sample::label, &sample::length
//
// std::invoke itself is not used because it would include <functional>, which is a third as long as <memory> and
// <string> together.
#pragma once

#include <type_traits>
#include <utility>

namespace sluice::lib::detail {

template <class F, class First, class... More>
constexpr decltype(auto) call_member(F f, First&& first, More&&... more) {
  // A pointer to a member, of an object or of the object that a (smart) pointer points to.
  if constexpr (std::is_member_function_pointer_v<F>) {
    if constexpr (requires { (std::forward<First>(first).*f)(std::forward<More>(more)...); })
      return (std::forward<First>(first).*f)(std::forward<More>(more)...);
    else return ((*std::forward<First>(first)).*f)(std::forward<More>(more)...);
  } else {
    if constexpr (requires { std::forward<First>(first).*f; }) return (std::forward<First>(first).*f);
    else return ((*std::forward<First>(first)).*f);
  }
}

template <class F, class... A> constexpr decltype(auto) call(F&& f, A&&... a) {
  if constexpr (std::is_member_pointer_v<std::remove_cvref_t<F>>) return call_member(f, std::forward<A>(a)...);
  else return std::forward<F>(f)(std::forward<A>(a)...);
}

}  // namespace sluice::lib::detail
