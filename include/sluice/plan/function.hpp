// SPDX-License-Identifier: Apache-2.0
// User functions with names, which plan text and checkpoints can refer to.
//
//   SLUICE_FUNCTION(parse_sample, [](const record& r) -> sample { … });
//   auto ds = tfrecord("a") | map(parse_sample);          // and in text: tfrecord("a") | map(parse_sample)
//   SLUICE_FUNCTION_VERSION(tokenise, 2, &tokenise_line);
//   auto part = tfrecord("a") | map(fn("crop", 3, [size](const image& x) { return crop(x, size); }));   // in place
//
// SLUICE_FUNCTION stands in a header or a source, at namespace scope. The version goes into fingerprints: raise it when
// the function's results change, and checkpoints of before are refused. A plain lambda runs as well but cannot be written
// down, and a checkpoint cannot tell it from another; fn() gives it a name and a version for checkpoints and errors.
// Captures are compared by a checkpoint where they can be (base/content_hash.hpp: no pointer, no padding), with or without
// a name; so are the elements of from_elements and from_range.
// A function has one signature: no auto parameter, no overloads.
// Thread: the registry is safe from any thread; functions are called from several workers at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/base/content_hash.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

struct stage_function;
namespace detail {
/// Fills in what is known of a user's function: its name, where it has one, what it captured, and its types.
template <class F> void describe(stage_function& s, const F& f, const element_type* in, const element_type* out);
}  // namespace detail

/// A user's function with its types forgotten; engine/functions.hpp has the forms that stages call.
struct stage_function {
  std::string name;  ///< empty: a lambda or data, which cannot be written down
  int version = 0;
  const element_type* in = nullptr;  ///< null: of a source
  const element_type* out = nullptr;
  bool draws = false;        ///< it is called with random numbers, so its stage has a seed
  bool values_known = true;  ///< `values()` tells all that it holds; false: it holds what cannot be compared

  stage_function() = default;
  stage_function(const stage_function&) = delete;
  stage_function& operator=(const stage_function&) = delete;
  virtual ~stage_function();
  /// A digest of what it holds (captured values, elements), the same in every process. Thread: any.
  virtual std::uint64_t values() const { return captured; }
  /// It is elements in memory, not code.
  virtual bool is_data() const { return false; }

 protected:
  std::uint64_t captured = 0;
  template <class F> void note_captures(const F& f) {
    if constexpr (std::is_empty_v<F> || std::is_function_v<std::remove_pointer_t<F>> || std::is_member_pointer_v<F>)
      return;
    else if constexpr (detail::plain_bytes<F>) {
      detail::content_hasher h;
      h.bytes(&f, sizeof f);
      captured = h.value();
    } else if constexpr (content_hashed<F>) {
      captured = content_hash(f);
    } else {
      values_known = false;
    }
  }
  template <class F> friend void detail::describe(stage_function&, const F&, const element_type*, const element_type*);
};

/// Registers one form of a named function. A function may have several (map's and filter's).
/// Errors: already_exists where the name has another version or takes another type.
void add_function(function_ptr function);
/// All forms under this name; empty where there are none.
std::vector<function_ptr> find_functions(std::string_view name);
/// Sorted.
std::vector<std::string> function_names();

namespace detail {

template <class F> struct signature {
  static_assert(!sizeof(F*),
                "SLUICE_FUNCTION: the function must have one plain signature, without auto parameters or overloads");
};
template <class F>
  requires requires { &F::operator(); }
struct signature<F> : signature<decltype(&F::operator())> {};
template <class R, class... A> struct signature<R (*)(A...)> {
  using result = R;
  static constexpr std::size_t arguments = sizeof...(A);
  template <class First, class Second, class...> struct types_of {
    using first = First;
    using second = std::remove_cvref_t<Second>;
  };
  using types = types_of<A..., void, void>;
  using argument = std::remove_cvref_t<typename types::first>;
  /// R f(S&, T): the first argument is a state that the function changes.
  static constexpr bool has_state = arguments == 2 && std::is_lvalue_reference_v<typename types::first> &&
                                    !std::is_const_v<std::remove_reference_t<typename types::first>>;
};
template <class R, class... A> struct signature<R (*)(A...) noexcept> : signature<R (*)(A...)> {};
template <class C, class R, class... A> struct signature<R (C::*)(A...) const> : signature<R (*)(A...)> {};
template <class C, class R, class... A> struct signature<R (C::*)(A...) const noexcept> : signature<R (*)(A...)> {};

}  // namespace detail

/// A function with a name. Called as the function it holds.
template <class F> struct named_function {
  F function;
  std::string_view name;
  int version;
  using signature = detail::signature<F>;
  using argument = typename signature::argument;
  using result = typename signature::result;

  template <class... A>
    requires std::is_invocable_v<const F&, A...>
  constexpr decltype(auto) operator()(A&&... a) const {
    return function(std::forward<A>(a)...);
  }
};
template <class F> named_function(F, std::string_view, int) -> named_function<F>;

template <class F> inline constexpr bool is_named = false;
template <class F> inline constexpr bool is_named<named_function<F>> = true;

/// A function that was named where it is used. Called as the function it holds.
template <class F> struct function_named_in_place {
  F function;
  std::string_view name;
  int version;

  template <class... A>
    requires std::is_invocable_v<const F&, A...>
  constexpr decltype(auto) operator()(A&&... a) const {
    return function(std::forward<A>(a)...);
  }
};
template <class F> inline constexpr bool is_named<function_named_in_place<F>> = true;

/// Names a function, lambda or coroutine where it is used, so that a checkpoint can tell it from another one and from
/// another version of itself. The name is a literal. Not registered: a plan with it still cannot be written down.
template <std::size_t N, class F> constexpr function_named_in_place<F> fn(const char (&name)[N], int version, F f) {
  return {std::move(f), std::string_view(name, N - 1), version};
}

/// Adds every form that the function's signature allows. Defined in op/register.hpp.
template <class F> void register_forms(const named_function<F>& f);

namespace detail {

template <class F> void describe(stage_function& s, const F& f, const element_type* in, const element_type* out) {
  if constexpr (is_named<F>) {
    s.name = f.name;
    s.version = f.version;
    s.note_captures(f.function);
  } else {
    s.note_captures(f);
  }
  s.in = in;
  s.out = out;
}

/// A shared_ptr without instantiating one for each function type.
function_ptr adopt(const stage_function* f);

}  // namespace detail

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::find_functions;
using lib::fn;
using lib::function_names;
using lib::named_function;

}  // namespace sluice

// The lambda initialises one inline object, so that every file sees the same function; a lambda as template argument
// in a header would be a different one in each.
#define SLUICE_FUNCTION(NAME, ...) SLUICE_FUNCTION_VERSION(NAME, 1, __VA_ARGS__)
#define SLUICE_FUNCTION_VERSION(NAME, VERSION, ...)                                        \
  inline constexpr auto NAME = ::sluice::lib::named_function{__VA_ARGS__, #NAME, VERSION}; \
  inline const bool NAME##_is_registered = (::sluice::lib::register_forms(NAME), true)
