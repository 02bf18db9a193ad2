// SPDX-License-Identifier: Apache-2.0
// Users' functions that return a coroutine, as forms: stream<U> f(stream<T>) for transform, stream<T> f() for generate.
//
//   detail::adopt(new detail::transform_function<T, F>(f))
//
// Thread: the same as in functions.hpp.
#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sluice/coro/detail/stage_tags.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/coro/stream.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib::detail {

template <class T> inline constexpr bool is_stream = false;
template <class T> inline constexpr bool is_stream<stream<T>> = true;
template <class F, class T>
concept transforms = std::invocable<const F&, stream<T>> && is_stream<std::invoke_result_t<const F&, stream<T>>>;

/// Converts to a parameter before the stream: `stateless`, or a saved<S> with the default state.
struct first_parameter {
  operator stateless() const noexcept { return {}; }
  template <class S> operator saved<S>() const { return saved<S>(); }
};

/// Calls a stage's coroutine with its parameters before and after the stream.
template <class F, class... A> struct stage_call {
  F f;
  std::tuple<A...> arguments;

  template <class T>
    requires std::invocable<const F&, T, const A&...>
  auto operator()(T in) const {
    return std::apply([&](const A&... a) { return f(std::move(in), a...); }, arguments);
  }
  template <class T>
    requires(!std::invocable<const F&, T, const A&...> && std::invocable<const F&, first_parameter, T, const A&...>)
  auto operator()(T in) const {
    return std::apply([&](const A&... a) { return f(first_parameter(), std::move(in), a...); }, arguments);
  }
};

/// Returns the user's function: a call without further arguments has its name and its facts.
template <class F> const F& described(const F& f) { return f; }
template <class F> const F& described(const stage_call<F>& call) { return call.f; }

template <class T, class F> struct transform_function final : stream_function {
  using U = typename std::invoke_result_t<const F&, stream<T>>::value_type;
  F f;
  explicit transform_function(F function) : f(std::move(function)) {
    describe(*this, described(f), &type_of<T>(), &type_of<U>());
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
