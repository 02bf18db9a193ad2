// SPDX-License-Identifier: Apache-2.0
// Registers a named function (SLUICE_FUNCTION) for every operator that its signature fits.
//
//   bool f(const T&)            map, filter          task<U> f(T)          map, awaited
//   U f(T)                      map                  dataset<U> f(T)       map, flat_map, interleave
//   stream<U> f(stream<T>)      transform            stream<T> f()         generate
//   U f(S&, T)                  scan                 void f(S&, T)         reduce, group_by_reducer
//   K f(const T&)               map, and group_by_reducer's key, where a K can be one
#pragma once

#include <memory>
#include <type_traits>

#include "sluice/engine/element_functions.hpp"
#include "sluice/engine/inner_functions.hpp"
#include "sluice/engine/keys.hpp"
#include "sluice/engine/state_calls.hpp"
#include "sluice/engine/stream_functions.hpp"

namespace sluice::lib {
namespace detail {

template <class F> void register_with_state(const named_function<F>& f) {
  using named = named_function<F>;
  using S = typename named::argument;
  using T = typename named::signature::types::second;
  static_assert(function_state<S>, "SLUICE_FUNCTION: " SLUICE_STATE_RULE);
  if constexpr (scans<named, S, T> && !reduces<named, S, T>) {
    add_function(adopt(new scan_function<T, S, named>(std::make_shared<const S>(), f)));
  } else {
    static_assert(reduces<named, S, T>, "SLUICE_FUNCTION: a function with a state cannot be awaited");
    add_function(adopt(new reduce_function<T, S, named>(std::make_shared<const S>(), f)));
  }
}

}  // namespace detail

template <class F> void register_forms(const named_function<F>& f) {
  using named = named_function<F>;
  using T = typename named::argument;
  if constexpr (named::signature::arguments == 0) {
    add_function(detail::adopt(new detail::generator_function<named>(f)));
  } else if constexpr (named::signature::has_state) {
    detail::register_with_state(f);
  } else if constexpr (detail::is_stream<T>) {
    add_function(detail::adopt(new detail::transform_function<typename T::value_type, named>(f)));
  } else {
    if constexpr (detail::opens_datasets<named, T>)
      add_function(detail::adopt(new detail::opening_function<T, named>(f)));
    else add_function(detail::adopt(new detail::any_map_function<T, named>(f)));
    if constexpr (std::is_same_v<typename named::result, bool>)
      add_function(detail::adopt(new detail::filter_function<T, named>(f)));
    if constexpr (detail::keys<named, T>) add_function(detail::adopt(new detail::keyed_function<T, named>(f)));
  }
}

}  // namespace sluice::lib
