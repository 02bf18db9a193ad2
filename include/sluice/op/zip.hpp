// SPDX-License-Identifier: Apache-2.0
// zip: pairs or tuples with one element of each input.
//
//   zip(tfrecord("images"), lines("labels.txt"))         // dataset<std::pair<record, line>>
//   zip(range(9), lines("a"), lines("b")) | batch(3)     // std::tuple of three: a batch has three columns
//
// Two inputs make pairs, three and more make std::tuples. Each input makes its own random draws (in a shuffle, for
// example), even if two inputs are the same plan.
// Shape:  std::pair<A, B>, or std::tuple<A, B, C, …>; as many elements as the shortest input has.
// Order:  each input's own.
// Ends:   with the first input that ends. The inputs before that one have then made one element more, which is not
//         delivered.
// Errors: those of the inputs. Under error_policy::skip a bad element is dropped from its input alone, so that all
//         later elements of that input have other partners. If elements belong together, zip first and compute
//         afterwards.
// Owns:   at most one block of each input, while its elements wait for those of the others.
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

// The public names.
using lib::zip;

}  // namespace sluice
