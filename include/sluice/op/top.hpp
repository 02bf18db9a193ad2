// SPDX-License-Identifier: Apache-2.0
// top: the n largest elements, the largest first.
//
//   range(10) | top(3)                                                        // 9 8 7
//   range(10) | top(3, expr("-abs(it - 5)"))                                  // 5 4 6
//   samples | top(10, [](const auto& s) { return s.label; })
//
// In plan text: top(10, by=price). `by` computes the rank of an element: a number, a text, an optional, or a pair,
// tuple or struct of those, which are compared member by member. Without it elements are ranked by themselves. For the
// smallest, negate: top(10, by=-price).
// Shape:  T.
// Order:  the largest first; elements of the same rank stay in the order of the input. A NaN is smaller than all other
//         numbers, and none is smaller than every value.
// Ends:   after n elements, or fewer if the input has fewer. The first is delivered when the input has ended.
// Errors: an error of `by` becomes an error of the stage, with the element's number; under error_policy::skip the
//         element is dropped and counted. resource_exhausted: the memory budget cannot hold n elements.
// Owns:   n elements and their ranks.
// State:  at most 1 MiB of elements whose type can be written: the elements that are not delivered yet. Otherwise: the
//         number of delivered elements, and a resume reads the input again. A resume before the first element always
//         does.
#pragma once

#include <utility>

#include "sluice/engine/ranks.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info top_op;

struct top_options {
  rank_argument by = {};  ///< computes the rank of an element; not given: the element itself
};
struct top_arguments {
  count n = {};  ///< the number of elements
  top_options options = {};
};

template <class F> class top_verb : public stage_base_tag {
 public:
  top_verb(count n, F by) : n_(n), by_(std::move(by)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (detail::ranks<F, T>) {
      top_arguments a{n_, {}};
      a.options.by.value = detail::adopt(new detail::ranked_function<T, F>(by_));
      return dataset<T>(top_op, arguments::of(std::move(a)), in.plan());
    } else {
      static_assert(
          detail::element_is<T>::template taken_by<F>,
          "top: the function must take const T& and return a number, a text, an optional, or a pair, tuple or "
          "struct of those; it cannot be awaited");
      return dataset<refused>();
    }
  }

 private:
  count n_;
  F by_;
};

preserving top(count n);
preserving top(count n, expression by);
template <class F> top_verb<F> top(count n, F by) { return {n, std::move(by)}; }

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::top;

}  // namespace sluice
