// SPDX-License-Identifier: Apache-2.0
// map: each element becomes f(element).
//
//   files | map(parse)                                        // called on the consumer's demand
//   ids | map(fetch, {.parallelism = 16})                     // task<reply> fetch(id): sixteen calls are awaited at once
//   files | map(decode, {.parallelism = autotune})            // called ahead of the consumer, on all workers
//
//   images | map([](const image& x, random_source& random) { return cropped(x, random.below(8)); }, {.seed = 7})
//   lines | map([](const line& l, element_index n) { return numbered(l, n); })
//   samples | map(expr<std::int64_t>("length(text)"))          // an expression: plan/expression_function.hpp
//
// The function takes T, T&& or const T& and returns U, result<U> (an error by value) or task<U> (awaited). It may have
// a second parameter: the element's index, or a source of random numbers for this element. These numbers are the same
// on any number of threads and after any resume, and differ for each epoch of a repeat, each stage and each seed.
// A function object can write its result directly as a row of a batch, if it has a member append_to. That member calls
// the append functions of `rows` and of its children, and no others. A batch(n) directly after a map calls
// append_to instead of the function, so that no element is built.
//
//   struct decode {
//     sample operator()(const record& r) const;
//     void append_to(column& rows, const record& r) const;   // element/column.hpp: a value to each member, append_row()
//   };
//
// Order:  as the input's. With .order = sloppy in the order in which calls finish; positions contain that order, and
//         the stage works ahead with any parallelism, even with 1.
// Ends:   with the input.
// Errors: an exception, or an error that the function returns, becomes an error of stage "map(name)", after the
//         elements before it. Under error_policy::skip the element is dropped and counted. invalid_argument when the
//         plan is made: parallelism above 65,536.
// Cancel: after a stop, calls in flight are still awaited; their results are discarded.
// Thread: with parallelism the function is called from several workers at once; otherwise from one at a time.
// State:  none of its own: the input's position; with sloppy also the ordinals of elements that were delivered out of
//         order. Parallelism may differ in a resumed run. Skipping an element does not call the function.
#pragma once

#include <cstdint>
#include <utility>

#include "sluice/engine/detail/element_functions.hpp"
#include "sluice/engine/map_options.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info map_op;

/// The mean memory of an element before the stage, and after it, in bytes, as an earlier run has measured them (tuned_plan).
/// Not part of fingerprints, since it changes no element.
struct element_sizes {
  std::int64_t before = 0, after = 0;
  constexpr bool is_given() const { return before != 0 || after != 0; }
};

struct map_arguments {
  function_arg<block_function, async_function> function = {};  ///< makes an element, or a task that returns one, from
                                                               ///< an element
  map_options options = {};
  /// [before, after]: the mean memory of an element, in bytes, as an earlier run has measured it; tuned plans have it
  element_sizes measured_bytes = {};
};

arguments map_by_expression(expression e, const element_type& wanted, map_options o);

template <class F> class map_verb : public stage_base_tag {
 public:
  map_verb(F f, map_options o) : f_(std::move(f)), options_(o) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (detail::maps<F, T>) {
      using function = detail::any_map_function<T, F>;
      return dataset<typename function::U>(
          map_op, arguments::of(map_arguments{detail::adopt(new function(f_)), options_}), in.plan());
    } else if constexpr (detail::callable_over<F, T>) {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "map: the function returns void (or task<>); it must return the new element, or the old one");
      return dataset<refused>();
    } else if constexpr (std::is_same_v<F, expression>) {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "map: an expression needs the type of its values here: expr<std::int64_t>(\"…\")");
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
SLUICE_FUNCTION_OPTIONS_IN_BRACES(map_verb<F>, map, map_options, "map(f, {.parallelism = 4})")
/// Yields the values of an expression, which are of type U.
template <class U> verb<detail::becomes<U>::template of> map(typed_expression<U> e, map_options o = {}) {
  return {map_op, map_by_expression(std::move(e.value), type_of<U>(), o)};
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::map;

}  // namespace sluice
