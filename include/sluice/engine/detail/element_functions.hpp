// SPDX-License-Identifier: Apache-2.0
// Users' functions of one element, as forms: f(T) that computes an element, f(T) that returns a task, a predicate.
//
//   detail::adopt(new detail::any_map_function<T, F>(f))      // a function_ptr; functions.hpp describes its calls
//   detail::adopt(new detail::filter_function<T, F>(f))
//
// Shared by map, filter, the `finish` and `init` of reduce and group_by_reducer, and SLUICE_FUNCTION.
// Thread: the same as in functions.hpp.
#pragma once

#include <concepts>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib::detail {

template <class T> struct returned {
  using type = T;
  static constexpr bool is_task = false, is_result = false;
};
template <class T> struct returned<task<T>> {
  using type = T;
  static constexpr bool is_task = true, is_result = false;
};
template <class T> struct returned<result<T>> {
  using type = T;
  static constexpr bool is_task = false, is_result = true;
};
template <class F, class T> using call_result = std::remove_cvref_t<typename called<F, T>::type>;
template <class F, class T> using mapped = typename returned<call_result<F, T>>::type;

template <class F, class T> concept callable_over = requires { typename called<F, T>::type; };
template <class F, class T> concept maps = callable_over<F, T> && !std::is_void_v<mapped<F, T>>;

/// The function can write its result as a row of a batch's columns.
template <class F, class T>
concept writes_rows = takes_element<F, T> && requires(const F& f, T&& x, column& rows) {
  { f.append_to(rows, std::move(x)) } -> std::same_as<void>;
};
/// Finds a member `append_to(column&, T)` that was meant for this but does not fit.
template <class F> struct row_writer_of {
  using row = void;
};
template <class F>
  requires requires { &F::append_to; }
struct row_writer_of<F> {
  template <class R, class C, class X> static X second(R (C::*)(column&, X));
  template <class R, class C, class X> static X second(R (C::*)(column&, X) const);
  template <class R, class C, class X> static X second(R (C::*)(column&, X) noexcept);
  template <class R, class C, class X> static X second(R (C::*)(column&, X) const noexcept);
  static void second(...);
  using row = std::remove_cvref_t<decltype(second(&F::append_to))>;
};
template <class F, class T>
concept writes_rows_wrongly = std::same_as<typename row_writer_of<F>::row, T> && !writes_rows<F, T>;

/// Checks a column after an append_to(); it had `before` rows. Errors: failed_precondition, unless it now has exactly
/// one more whole row.
status check_appended_row(const column& rows, std::size_t before);
std::size_t rows_of(const column& rows) noexcept;
void remove_rows(column& rows, std::size_t before) noexcept;

/// The loop over a block; one instantiation per user function.
template <class T, class F> struct map_function final : block_function {
  using U = mapped<F, T>;
  F f;
  explicit map_function(F function) : f(std::move(function)) {
    static_assert(
        !writes_rows_wrongly<F, T>,
        "map: append_to has to be `void append_to(column&, const T&) const`, and the function has to take the "
        "element alone");
    describe(*this, f, &type_of<T>(), &type_of<U>());
    draws = takes_random<F, T>;
    in_place = std::is_same_v<T, U> && std::is_trivially_copyable_v<T>;
    appends_rows = writes_rows<F, T>;
  }
  applied append_rows(const block& from, column& rows, const element_place& first) const override {
    if constexpr (writes_rows<F, T>) {
      T* p = from.as<T>();
      for (std::uint32_t i = 0; i != from.size(); ++i) {
        const std::size_t before = rows_of(rows);
        status why;
        try {
          f.append_to(rows, std::move(p[i]));
          why = check_appended_row(rows, before);
        } catch (...) { why = current_exception_status(); }
        if (why.ok()) continue;
        remove_rows(rows, before);
        return {i, std::move(why)};
      }
      return {from.size(), {}};
    } else {
      return block_function::append_rows(from, rows, first);
    }
  }
  applied apply(const block& from, void* to, const element_place& first) const override {
    T* p = from.as<T>();
    if constexpr (std::is_same_v<T, U> && std::is_trivially_copyable_v<T>) {
      // One pointer for input and output: with two the compiler must assume that they overlap, and does not vectorize.
      if (to == p) return each(from.size(), p, first, [p](std::uint32_t i) { return p + i; });
    }
    U* o = static_cast<U*>(to);
    return each(from.size(), p, first, [o](std::uint32_t i) { return o + i; });
  }

 private:
  template <class Place> applied each(std::uint32_t n, T* p, const element_place& first, Place place) const {
    const local_function<F> call = f;  // NOLINT(performance-unnecessary-copy-initialization)
    std::uint32_t i = 0;
    try {
      for (; i != n; ++i) {
        if constexpr (returned<call_result<F, T>>::is_result) {
          auto r = call_with_place(call, std::move(p[i]), first, i);
          if (!r.ok()) return {i, r.why()};
          ::new (static_cast<void*>(place(i))) U(*std::move(r));
        } else {
          ::new (static_cast<void*>(place(i))) U(call_with_place(call, std::move(p[i]), first, i));
        }
      }
    } catch (...) { return {i, current_exception_status()}; }
    return {n, {}};
  }
};

template <class T, class F> struct awaited_function final : async_function {
  using U = mapped<F, T>;
  F f;
  explicit awaited_function(F function) : f(std::move(function)) {
    describe(*this, f, &type_of<T>(), &type_of<U>());
    draws = takes_random<F, T>;
  }
  task<void> start(void* from, void* to, element_place place) const override {
    return call(f, static_cast<T*>(from), static_cast<U*>(to), place);
  }

 private:
  static auto begin(const F& function, T& from, random_source& random, const element_place& place) {
    if constexpr (takes_random<F, T>) return detail::call(function, std::move(from), random);
    else return call_with_place(function, std::move(from), place, 0);
  }
  static task<void> call(const F& function, T* from, U* to, element_place place) {
    random_source random =
        place.random(0);  // a local variable of this coroutine, because the call may refer to it until its end
    auto calling = begin(function, *from, random, place);
    U u = co_await calling;
    ::new (static_cast<void*>(to)) U(std::move(u));
  }
};

template <class T, class F>
using any_map_function =
    std::conditional_t<returned<call_result<F, T>>::is_task, awaited_function<T, F>, map_function<T, F>>;

/// A block_function that draws no random numbers.
struct finishing_form {
  static bool accepts(const stage_function& f);
};
/// Sets the function of an optional argument. Defined in the library, so that not every program compiles it.
void set_function(optional_function<finishing_form>& argument, function_ptr function);

template <class F, class S>
concept finishes = takes_element<F, S> && maps<F, S> && !returned<call_result<F, S>>::is_task;
struct no_finish {};

template <class F, class T> concept filters = std::predicate<const F&, const T&>;

template <class T, class F> struct filter_function final : predicate_function {
  F f;
  explicit filter_function(F function) : f(std::move(function)) { describe(*this, f, &type_of<T>(), &type_of<T>()); }
  outcome keep(const block& from, const element_place&) const override {
    T* p = from.as<T>();
    std::uint32_t n = from.size(), k = 0, i = 0;
    const local_function<F> call = f;
    try {
      for (; i != n; ++i) {
        bool yes = detail::call(call, std::as_const(p[i]));
        if constexpr (std::is_trivially_copyable_v<T>) {
          p[k] = p[i];  // without a branch: the results of predicates are hard to predict
          k += yes;
        } else if (yes) {
          if (k != i) replace(p[k], p[i]);
          ++k;
        }
      }
    } catch (...) { return {k, i, current_exception_status()}; }
    return {k, n, {}};
  }
  outcome keep_while(const block& from, const element_place&) const override {
    const T* p = from.as<T>();
    std::uint32_t n = from.size(), i = 0;
    const local_function<F> call = f;
    try {
      while (i != n && detail::call(call, p[i])) ++i;
    } catch (...) { return {i, i, current_exception_status()}; }
    return {i, i == n ? n : i + 1, {}};
  }

 private:
  static void replace(T& to, T& from) {
    if constexpr (std::is_move_assignable_v<T>) {
      to = std::move(from);
    } else {
      to.~T();
      ::new (static_cast<void*>(&to)) T(std::move(from));
    }
  }
};

}  // namespace sluice::lib::detail
