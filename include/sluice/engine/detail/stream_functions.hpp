// SPDX-License-Identifier: Apache-2.0
// Users' functions that return a coroutine, as forms: stream<U> f(stream<T>) for transform, stream<T> f() for generate.
//
//   detail::adopt(new detail::transform_function<T, F>(f))
//
// Thread: the same as in functions.hpp.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "sluice/coro/stream.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib::detail {

template <class T> inline constexpr bool is_stream = false;
template <class T> inline constexpr bool is_stream<stream<T>> = true;
template <class F, class T>
concept transforms = std::invocable<const F&, stream<T>> && is_stream<std::invoke_result_t<const F&, stream<T>>>;

template <class T, class F> struct transform_function final : stream_function {
  using U = typename std::invoke_result_t<const F&, stream<T>>::value_type;
  F f;
  explicit transform_function(F function) : f(std::move(function)) {
    describe(*this, f, &type_of<T>(), &type_of<U>());
    set_label("transform");
  }
  erased_stream open(erased_stream input) const override {
    stream<T> typed(std::move(input));
    return erased_stream(detail::call(f, std::move(typed)));
  }
};

/// A stream_function with an input stream.
struct transform_form {
  static bool accepts(const stage_function& f);
};

template <class F> struct generator_function final : stream_function {
  using T = typename std::invoke_result_t<const F&>::value_type;
  F f;
  explicit generator_function(F function) : f(std::move(function)) {
    describe(*this, f, nullptr, &type_of<T>());
    set_label("generate");
  }
  erased_stream open(erased_stream) const override { return erased_stream(detail::call(f)); }
};

/// A stream_function that is a source.
struct generator_form {
  static bool accepts(const stage_function& f);
};

}  // namespace sluice::lib::detail
