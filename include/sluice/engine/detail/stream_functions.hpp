// SPDX-License-Identifier: Apache-2.0
// Users' functions that return a coroutine, as forms: stream<U> f(stream<T>) for transform, stream<T> f() for generate.
//
//   detail::adopt(new detail::transform_function<T, F>(f))
//
// Thread: the same as in functions.hpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sluice/base/content_hash.hpp"
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

template <class F> inline constexpr bool has_stage_arguments = false;
template <class F, class... A> inline constexpr bool has_stage_arguments<stage_call<F, A...>> = sizeof...(A) != 0;

/// Returns the user's function: a call without further arguments has its name and its facts.
template <class F> const F& described(const F& f) { return f; }
template <class F> const F& described(const stage_call<F>& call) { return call.f; }

template <class T, class F> struct transform_function final : stream_function {
  using U = typename std::invoke_result_t<const F&, stream<T>>::value_type;
  F f;
  explicit transform_function(F function) : f(std::move(function)) {
    if constexpr (has_stage_arguments<F>) {
      note_call(f);
    } else {
      describe(*this, described(f), &type_of<T>(), &type_of<U>());
      set_label("transform");
    }
  }
  erased_stream open(erased_stream input) const override {
    stream<T> typed(std::move(input));
    return erased_stream(detail::call(f, std::move(typed)));
  }

 private:
  /// The values by which checkpoints know it are a hash of the coroutine's name, version and captured values, and of the
  /// arguments. It has no name, because the text of a plan cannot contain the arguments.
  template <class G, class... A> void note_call(const stage_call<G, A...>& call) {
    describe(*this, call.f, &type_of<T>(), &type_of<U>());
    set_label("transform");
    content_hasher h;
    h.bytes(name.data(), name.size());
    h.word(static_cast<std::uint64_t>(version));
    h.word(captured);
    std::apply([&](const A&... a) { (note_argument(h, a), ...); }, call.arguments);
    captured = h.value();
    name.clear();
    version = 0;
  }
  template <class A> void note_argument(content_hasher& h, const A& argument) {
    if constexpr (content_hashed<A>) add_content(h, argument);
    else if constexpr (plain_bytes<A>) h.bytes(&argument, sizeof argument);
    else values_known = false;
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
