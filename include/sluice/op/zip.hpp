// SPDX-License-Identifier: Apache-2.0
// zip: one element of each input, together.
//
//   zip(tfrecord("images"), lines("labels.txt"))         // dataset<std::pair<record, line>>
//   zip(range(9), lines("a"), lines("b")) | batch(3)     // std::tuple of three: a batch has three columns
//
// Two inputs give pairs, three and more std::tuples. Inputs that draw (a shuffle) draw each on its own, also where they are
// the same plan.
// Shape:  std::pair<A, B>, or std::tuple<A, B, C, …>; as many as the shortest input has.
// Order:  each input's own.
// Ends:   with the first input that ends. Those in front of it have made one element more by then, which is dropped.
// Errors: an input's. Under error_policy::skip a bad element is dropped from its input alone, and the partners of those
//         behind it change; where elements belong together, zip first and compute then.
// Owns:   what is left of a block of one input while the others have none: a block of each at most.
// State:  none of its own: the position of each input.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info zip_op;

namespace detail {
template <class... T> struct zipped {
  using type = std::tuple<T...>;
};
template <class A, class B> struct zipped<A, B> {
  using type = std::pair<A, B>;
};
}  // namespace detail

/// Errors: invalid_argument: the plan would be too deep.
template <class A, class B, class... More>
auto zip(const dataset<A>& first, const dataset<B>& second, const dataset<More>&... more) {
  return dataset<typename detail::zipped<A, B, More...>::type>(
      make_combine(zip_op, arguments::of(no_arguments{}), {first.plan(), second.plan(), more.plan()...}));
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::zip;

}  // namespace sluice
