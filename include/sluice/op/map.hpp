// SPDX-License-Identifier: Apache-2.0
// map: each element becomes f(element).
//
//   files | map(parse)                                        // called on the consumer's demand
//   ids | map(fetch, {.parallelism = 16})                     // task<reply> fetch(id): sixteen calls are awaited at once
//   files | map(decode, {.parallelism = autotune})            // called ahead of the consumer, on all workers
//
//   images | map([](const image& x, random_source& random) { return cropped(x, random.below(8)); }, {.seed = 7})
//   lines | map([](const line& l, element_index n) { return numbered(l, n); })
//
// The function takes T, T&& or const T& and returns U, result<U> (an error by value) or task<U> (awaited). A second
// argument, if it has one, is the element's index or a source of random numbers for this element: the same on any
// number of threads and after any resume, and different for each epoch of a repeat, each stage and each seed.
// Order:  as the input's. With .order = sloppy in the order in which calls finish; positions contain that order, and
//         the stage works ahead with any parallelism, also with 1.
// Ends:   with the input.
// Errors: an exception, or an error that the function returns, becomes an error of stage "map(name)", after the
//         elements before it. Under error_policy::skip the element is dropped and counted. invalid_argument when the
//         plan is made: parallelism above 65,536.
// Cancel: after a stop, calls in flight are still awaited; their results are discarded.
// Thread: with parallelism the function is called from several workers at once; otherwise from one at a time.
// State:  none of its own: the input's position; with sloppy also the ordinals of elements that were delivered out of
//         order. Parallelism may differ in a resumed run. Passing over an element does not call the function.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include "sluice/base/field_types.hpp"
#include "sluice/engine/functions.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info map_op;

struct map_options {
  knob parallelism = 1;  ///< blocks computed, or calls awaited, at once, at most 65,536; more than 1 works ahead
  sluice::lib::order order =
      order::deterministic;     ///< sloppy: results are delivered in the order in which calls finish
  sluice::lib::seed seed = {};  ///< of what random_source& draws; -1: drawn once per run
};
struct map_arguments {
  function_arg<block_function, async_function> function = {};  ///< from element to element, or to a task of one
  map_options options = {};
};

namespace detail {

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

/// The loop over a block; one instantiation per user function.
template <class T, class F> struct map_function final : block_function {
  using U = mapped<F, T>;
  F f;
  explicit map_function(F function) : f(std::move(function)) {
    describe(*this, f, &type_of<T>(), &type_of<U>());
    draws = takes_random<F, T>;
    in_place = std::is_same_v<T, U> && std::is_trivially_copyable_v<T>;
  }
  applied apply(const block& from, void* to, const element_place& first) const override {
    T* p = from.as<T>();
    if constexpr (std::is_same_v<T, U> && std::is_trivially_copyable_v<T>) {
      // One pointer for input and output: with two the compiler must assume that they overlap, and does not vectorise.
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
        place.random(0);  // a local of this coroutine, because the call may refer to it until its end
    auto calling = begin(function, *from, random, place);
    U u = co_await calling;
    ::new (static_cast<void*>(to)) U(std::move(u));
  }
};

template <class T, class F>
using any_map_function =
    std::conditional_t<returned<call_result<F, T>>::is_task, awaited_function<T, F>, map_function<T, F>>;

}  // namespace detail

template <class F> class map_verb : public stage_base_tag {
 public:
  map_verb(F f, map_options o) : f_(std::move(f)), options_(o) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (detail::maps<F, T>) {
      using function = detail::any_map_function<T, F>;
      return dataset<typename function::U>(
          make_stage(map_op, arguments::of(map_arguments{detail::adopt(new function(f_)), options_}), in.plan()));
    } else if constexpr (detail::callable_over<F, T>) {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "map: the function returns void (or task<>); it must return the new element, or the old one");
      return dataset<refused>();
    } else {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "map: the function must take the element (T, const T& or T&&) and return a value");
      return dataset<refused>();
    }
  }

 private:
  F f_;
  map_options options_;
};

template <class F> map_verb<F> map(F f, map_options o = {}) { return {std::move(f), o}; }

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::map;
using lib::map_options;

}  // namespace sluice
