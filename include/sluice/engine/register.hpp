// SPDX-License-Identifier: Apache-2.0
// Registers a named function (SLUICE_FUNCTION) for every operator that its signature fits.
//
//   bool f(const T&)            map, filter          task<U> f(T)          map, awaited
//   void f(const T&)            inspect
//   U f(T)                      map                  dataset<U> f(T)       map, flat_map, interleave
//   stream<U> f(stream<T>)      transform            stream<T> f()         generate
//   U f(S&, T)                  scan                 void f(S&, T)         reduce, group_by_reducer
//   K f(const T&)               map; if K can be a key, also the functions of elements' keys, lengths and classes:
//                               group_by, group_by_reducer, group_by_window, bucket_by_sequence_length,
//                               batch_by_tokens, rejection_resample
//   U f(A, B …)                 for several values: in expressions, f(a, b …); as map's function, for pairs or tuples.
//                               The last parameter may be a random_source&, as in map.
//
// SLUICE_OVERLOAD(name, version, function) registers one of several functions with the same name. Each takes another
// element type:
//
//   SLUICE_OVERLOAD("area", 1, [](const box& b) { return b.w * b.h; });
//   SLUICE_OVERLOAD("area", 1, [](double w, double h) { return w * h; });       // map(area(w, h))
#pragma once

#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sluice/engine/detail/element_functions.hpp"
#include "sluice/engine/detail/inner_functions.hpp"
#include "sluice/engine/detail/look_functions.hpp"
#include "sluice/engine/detail/state_calls.hpp"
#include "sluice/engine/detail/stream_functions.hpp"
#include "sluice/engine/keys.hpp"
#include "sluice/expr/named_arguments.hpp"

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

/// Several values as one: a pair, or a tuple.
template <class... A> struct values_of {
  using type = std::tuple<std::remove_cvref_t<A>...>;
};
template <class A, class B> struct values_of<A, B> {
  using type = std::pair<std::remove_cvref_t<A>, std::remove_cvref_t<B>>;
};

/// Converts a function of several values to a function of a pair or tuple.
template <class F, class R, class... A> struct spread_function {
  using wrapped_function = F;
  F function;
  using values = typename values_of<A...>::type;
  /// A reference if the function copies its arguments. Then the function may be a predicate, too.
  using parameter =
      std::conditional_t<std::is_invocable_v<const F&, const std::remove_cvref_t<A>&...>, const values&, values&&>;
  R operator()(parameter all) const { return std::apply(function, std::forward<parameter>(all)); }
};
template <class F, class R, class... A> struct random_spread_function {
  using wrapped_function = F;
  F function;
  R operator()(typename values_of<A...>::type&& all, random_source& random) const {
    return std::apply([&](auto&&... a) -> R { return function(std::move(a)..., random); }, std::move(all));
  }
};

/// All parameters except the last one.
template <class F, class R, class Arguments, class Indexes> struct random_spread;
template <class F, class R, class... A, std::size_t... I>
struct random_spread<F, R, std::tuple<A...>, std::index_sequence<I...>> {
  using type = random_spread_function<F, R, std::tuple_element_t<I, std::tuple<A...>>...>;
};

template <class P>
inline constexpr bool is_place =
    std::is_same_v<std::remove_cvref_t<P>, element_index> || std::is_same_v<P, random_source&>;

/// The function type of pairs or tuples for a function pointer's type; void if it has one parameter.
template <class F, class Pointer> struct spread_of {
  using type = void;
};
template <class F, class R, class A, class B, class... More>
  requires(!is_place<B>)
struct spread_of<F, R (*)(A, B, More...)> {
  using all = std::tuple<A, B, More...>;
  static constexpr std::size_t last = sizeof...(More) + 1;
  static constexpr bool is_random = std::is_same_v<std::tuple_element_t<last, all>, random_source&>;
  using type = typename std::conditional_t<is_random, random_spread<F, R, all, std::make_index_sequence<last>>,
                                           std::type_identity<spread_function<F, R, A, B, More...>>>::type;
};

template <class Form> void add_form(Form* form, bool is_overload) {
  form->is_overload = is_overload;
  add_function(adopt(form));
}

}  // namespace detail

template <class F> void register_forms(const named_function<F>& f, bool is_overload) {
  detail::check_version();
  using named = named_function<F>;
  using T = typename named::argument;
  using spread = typename detail::spread_of<F, typename named::signature::pointer>::type;
  if constexpr (named::signature::arguments == 0) {
    add_function(detail::adopt(new detail::generator_function<named>(f)));
  } else if constexpr (named::signature::has_state) {
    detail::register_with_state(f);
  } else if constexpr (!std::is_void_v<spread>) {
    register_forms(named_function<spread>{{f.function}, f.name, f.version}, is_overload);
  } else if constexpr (detail::is_stream<T>) {
    add_function(detail::adopt(new detail::transform_function<typename T::value_type, named>(f)));
  } else if constexpr (std::is_void_v<typename named::result>) {
    detail::add_form(new detail::look_calls<T, named>(f), is_overload);
  } else {
    if constexpr (detail::opens_datasets<named, T>)
      detail::add_form(new detail::opening_function<T, named>(f), is_overload);
    else detail::add_form(new detail::any_map_function<T, named>(f), is_overload);
    if constexpr (std::is_same_v<typename named::result, bool>)
      detail::add_form(new detail::filter_function<T, named>(f), is_overload);
    if constexpr (detail::keys<named, T>) detail::add_form(new detail::keyed_function<T, named>(f), is_overload);
  }
}

/// Registers one of several functions of a name and version, which have different element types. REQUIRES: `name` lives
/// as long as the program. Errors: those of add_function.
template <class F> void register_overload(std::string_view name, int version, F f) {
  register_forms(named_function<F>{std::move(f), name, version}, true);
}

}  // namespace sluice::lib

#define SLUICE_OVERLOAD_NAME_(LINE) sluice_overload_of_line_##LINE
#define SLUICE_OVERLOAD_NAME(LINE) SLUICE_OVERLOAD_NAME_(LINE)
// For a source file, at namespace scope.
#define SLUICE_OVERLOAD(NAME, VERSION, ...)                           \
  static const bool SLUICE_OVERLOAD_NAME(__LINE__) [[maybe_unused]] = \
      (::sluice::lib::register_overload(NAME, VERSION, __VA_ARGS__), true)
