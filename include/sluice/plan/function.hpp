// SPDX-License-Identifier: Apache-2.0
// User functions with names, which plan text and checkpoints can refer to.
//
//   SLUICE_FUNCTION(parse_sample, [](const record& r) -> sample { … });
//   auto ds = tfrecord("a") | map(parse_sample);          // and in text: tfrecord("a") | map(parse_sample)
//   SLUICE_FUNCTION_VERSION(tokenise, 2, &tokenise_line);
//   SLUICE_PURE_FUNCTION(crop, 1, [](const image& x) { … });       // without side effects: may run concurrently
//   auto part = tfrecord("a") | map(fn("crop", 3, [size](const image& x) { return crop(x, size); }));   // in place
//
// SLUICE_FUNCTION is used in a header or a source, at namespace scope. The version is part of fingerprints: raise it
// when the results of the function change, and older checkpoints are rejected. A plain lambda may be used as well, but
// a plan with it has no text form, and a checkpoint cannot distinguish it from another lambda; fn() gives it a name and
// a version for checkpoints and error messages. A resume compares captured values, with or without a name, if they are
// comparable (base/content_hash.hpp: no pointer, no padding), and also the elements of from_elements and from_range. A
// function with a name must have one signature: no auto parameter, no overloads.
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
#include "sluice/version.hpp"

namespace sluice::lib {

class column;
class expression;

struct stage_function;
namespace detail {
/// Sets the name (if it has one), version, captured values and types of a user's function.
template <class F> void describe(stage_function& s, const F& f, const element_type* in, const element_type* out);
}  // namespace detail

/// A user's function without its C++ type. The derived classes, called forms, have the functions by which stages call
/// it (engine/detail/functions.hpp).
struct stage_function {
  std::string name;  ///< empty: a lambda, or elements in memory; the plan has no text form then
  int version = 0;
  const element_type* in = nullptr;  ///< null for a source
  const element_type* out = nullptr;
  bool draws = false;  ///< it has a parameter for random numbers, so that its stage has a seed
  function_facts facts = {};
  bool uses_place = false;  ///< a result may depend on the number of the element
  names_read reads = {};    ///< the members of the element that it reads
  /// The members of the result that are the members of the element with these names, of the same types, unchanged. Sorted.
  std::vector<std::string> copies = {};
  bool values_known = true;  ///< values() is a hash of all values that it contains; false: some cannot be compared

  stage_function() = default;
  stage_function(const stage_function&) = delete;
  stage_function& operator=(const stage_function&) = delete;
  virtual ~stage_function();
  /// A hash of the values that it contains (captured values, elements), equal in every process. Thread: any.
  virtual std::uint64_t values() const { return captured; }
  /// Returns true for elements in memory (from_elements), false for code.
  virtual bool is_data() const { return false; }
  /// Returns the same function for elements of another type. Null: it has no form for them. REQUIRES: `in` has the
  /// members that the function reads, with the same types.
  virtual function_ptr for_input(const element_type& in) const;
  /// Returns the expression of a map by an expression; null for other functions.
  virtual const expression* as_expression() const;
  /// Returns a map by another expression, which make_node() binds; `wanted`: the type of its values. It is a member so
  /// that only programs with expressions contain what reads and compiles them. REQUIRES: as_expression() is not null.
  virtual function_ptr with_expression(std::string_view text, const element_type* wanted) const;
  /// True if its name is the text of an expression, which needs no registration.
  bool is_expression = false;
  /// True if functions of the same name and version may have other element types.
  bool is_overload = false;

 protected:
  std::uint64_t captured = 0;
  template <class F> void note_captures(const F& f) {
    if constexpr (std::is_empty_v<F> || std::is_function_v<std::remove_pointer_t<F>> || std::is_member_pointer_v<F>)
      return;
    else if constexpr (requires { typename F::wrapped_function; }) {
      note_captures(f.function);
    } else if constexpr (detail::plain_bytes<F>) {
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

/// The place of an expression in a plan.
struct bind_context {
  const element_type& in;  ///< the type of its elements
  /// The expression of its initial state, if the stage has one.
  const stage_function* initial = nullptr;
};

/// An expression before the type of its element is known. make_node() replaces it by the result of bind().
struct unbound_function : stage_function {
  /// Returns a function that the stage `accepts`. Errors: throws expression_error.
  virtual function_ptr bind(const bind_context& context, bool (*accepts)(const stage_function&)) const = 0;
};

/// Registers one form of a named function. A function may have several (one for map and one for filter). Errors:
/// already_exists: the name is registered with another version, or with another input type and one of the two is not an
/// overload.
void add_function(function_ptr function);
/// All forms that are registered under this name.
std::vector<function_ptr> find_functions(std::string_view name);
/// All registered names, sorted.
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
  using pointer = R (*)(A...);
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

/// A function with a name and a version (SLUICE_FUNCTION). Calling it calls `function`.
template <class F> struct named_function {
  F function;
  std::string_view name;
  int version;
  function_facts facts = {};
  using signature = detail::signature<F>;
  using argument = typename signature::argument;
  using result = typename signature::result;

  template <class... A>
    requires std::is_invocable_v<const F&, A...>
  constexpr decltype(auto) operator()(A&&... a) const {
    return function(std::forward<A>(a)...);
  }
  /// Writes the result as a row of a batch (op/map.hpp), if `function` can.
  template <class T>
    requires requires(const F& f, column& rows, T&& x) { f.append_to(rows, std::forward<T>(x)); }
  void append_to(column& rows, T&& x) const {
    function.append_to(rows, std::forward<T>(x));
  }
};
template <class F> named_function(F, std::string_view, int) -> named_function<F>;
template <class F> named_function(F, std::string_view, int, function_facts) -> named_function<F>;

template <class F> inline constexpr bool is_named = false;
template <class F> inline constexpr bool is_named<named_function<F>> = true;

/// A function that was given a name where it is used (fn). Calling it calls `function`.
template <class F> struct function_named_in_place {
  F function;
  std::string_view name;
  int version;
  function_facts facts = {};

  template <class... A>
    requires std::is_invocable_v<const F&, A...>
  constexpr decltype(auto) operator()(A&&... a) const {
    return function(std::forward<A>(a)...);
  }
  /// Writes the result as a row of a batch (op/map.hpp), if `function` can.
  template <class T>
    requires requires(const F& f, column& rows, T&& x) { f.append_to(rows, std::forward<T>(x)); }
  void append_to(column& rows, T&& x) const {
    function.append_to(rows, std::forward<T>(x));
  }
};
template <class F> inline constexpr bool is_named<function_named_in_place<F>> = true;

/// Gives a function, lambda or coroutine a name where it is used, so that a checkpoint can distinguish it from other
/// functions and from other versions of itself. REQUIRES: the name is a string literal. The function is not registered,
/// so a plan with it still has no text form. `facts` declare what rewrites and the tuner may rely on:
/// `fn("parse", 3, parse, {.concurrent = true, .pure = true})`. A false declaration changes results.
template <std::size_t N, class F>
constexpr function_named_in_place<F> fn(const char (&name)[N], int version, F f, function_facts facts = {}) {
  return {std::move(f), std::string_view(name, N - 1), version, facts};
}

#define SLUICE_DETAIL_VERSIONED_(NAME, MAJOR, MINOR) NAME##_##MAJOR##_##MINOR
#define SLUICE_DETAIL_VERSIONED(NAME, MAJOR, MINOR) SLUICE_DETAIL_VERSIONED_(NAME, MAJOR, MINOR)
namespace detail {
/// Does nothing. Code that registers functions links to it. Its name contains the version, so a plug-in that was
/// compiled for another version cannot be loaded.
void SLUICE_DETAIL_VERSIONED(compiled_for, SLUICE_VERSION_MAJOR, SLUICE_VERSION_MINOR)() noexcept;
inline void check_version() { SLUICE_DETAIL_VERSIONED(compiled_for, SLUICE_VERSION_MAJOR, SLUICE_VERSION_MINOR)(); }
/// Makes add_function() append its errors to `to` instead of throwing, until it is called with null. Exceptions cannot
/// pass through the loader of shared objects.
void note_registration_errors(std::vector<std::string>* to);
}  // namespace detail

/// Registers every form that the function's signature fits. Defined in engine/register.hpp.
template <class F> void register_forms(const named_function<F>& f, bool is_overload = false);

namespace detail {

template <class F> void describe(stage_function& s, const F& f, const element_type* in, const element_type* out) {
  if constexpr (is_named<F>) {
    s.name = f.name;
    s.version = f.version;
    s.facts = f.facts;
    s.note_captures(f.function);
  } else {
    s.note_captures(f);
  }
  s.in = in;
  s.out = out;
}

/// Takes ownership. Makes the shared_ptr in the library, so that it is not instantiated for each function type.
function_ptr adopt(const stage_function* f);

}  // namespace detail

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::find_functions;
using lib::fn;
using lib::function_names;
using lib::named_function;

}  // namespace sluice

// The lambda initializes an inline object, so that all source files use the same function; a lambda as a template
// argument in a header would be a different type in each.
#define SLUICE_FUNCTION(NAME, ...) SLUICE_FUNCTION_VERSION(NAME, 1, __VA_ARGS__)
#define SLUICE_FUNCTION_VERSION(NAME, VERSION, ...)                                        \
  inline constexpr auto NAME = ::sluice::lib::named_function{__VA_ARGS__, #NAME, VERSION}; \
  inline const bool NAME##_is_registered = (::sluice::lib::register_forms(NAME), true)
// The same for a function whose calls have no side effects, depend on their arguments only, and may run concurrently.
#define SLUICE_PURE_FUNCTION(NAME, VERSION, ...)                                                     \
  inline constexpr auto NAME = ::sluice::lib::named_function{                                        \
      __VA_ARGS__, #NAME, VERSION, ::sluice::lib::function_facts{.concurrent = true, .pure = true}}; \
  inline const bool NAME##_is_registered = (::sluice::lib::register_forms(NAME), true)
