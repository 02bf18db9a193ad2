// SPDX-License-Identifier: Apache-2.0
// rejection_resample: drops elements so that the remaining ones have a given distribution over classes.
//
//   samples | rejection_resample(expr<std::int64_t>("label"), {0.5, 0.5}, {.seed = 1})
//   numbers | rejection_resample(expr<std::int64_t>("it % 2"), {0.9, 0.1})
//   range(100) | rejection_resample([](std::int64_t x) { return x % 10 / 9; }, {0.5, 0.5}, {.initial_dist = {0.9, 0.1}})
//
// In plan text: rejection_resample(label, [0.5, 0.5], initial_dist=[0.9, 0.1], seed=1).
// An element of class c is kept with a probability proportional to target_dist[c] / initial_dist[c]. The class with the
// largest quotient is always kept (probability 1). The draw for the k-th element is a function of the seed and of k. If
// initial_dist is not given, it is the distribution of the elements so far, counted as if ten elements of each class
// had come before.
// Shape:  std::pair<K, T>: the class and the element. The class function takes const T& and returns a whole number.
// Order:  as the input's. Each element is delivered at most once.
// Ends:   with the input.
// Errors: invalid_argument, when the plan is built: a probability is negative or not finite; target_dist is empty or
//         has no class with a probability above 0; initial_dist has another length, or is 0 for a class that
//         target_dist wants. invalid_argument in a run, with the element's number: the class is not in the range from 0
//         to the length of target_dist - 1. Also the errors of the class function. Under error_policy::skip these
//         elements are dropped and counted.
// State:  the input's position; without initial_dist also the number of elements of each class so far.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/engine/keys.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info rejection_resample_op;

struct rejection_resample_options {
  std::vector<double> initial_dist = {};  ///< frequency of each class in the input, with any sum; empty: estimated from
                                          ///< the elements so far
  sluice::lib::seed seed = {};            ///< seed of the draws; -1: from the run's seed and the site
};
struct rejection_resample_arguments {
  function_arg<key_function> function = {};  ///< returns an element's class: 0, 1, 2 …
  std::vector<double> target_dist = {};      ///< wanted frequency of each class, with any sum
  rejection_resample_options options = {};
};

namespace detail {
template <class F, class T>
concept classifies = keys<F, T> && std::is_integral_v<key_of<F, T>> && !std::is_same_v<key_of<F, T>, bool>;
/// A template, so that it is compiled only in programs that resample.
template <class F> auto resample_arguments(std::vector<double> target_dist, rejection_resample_options o) {
  return rejection_resample_arguments{{}, std::move(target_dist), std::move(o)};
}
template <class F> struct class_expression {
  static constexpr bool exists = false;
};
template <class K> struct class_expression<typed_expression<K>> {
  static constexpr bool exists = true;
  using type = K;
};
}  // namespace detail

template <class F> class rejection_resample_verb : public stage_base_tag {
 public:
  rejection_resample_verb(F f, rejection_resample_arguments a) : f_(std::move(f)), arguments_(std::move(a)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (detail::class_expression<F>::exists) {
      rejection_resample_arguments a = arguments_;
      a.function.value = expression_function(f_.value);
      return dataset<std::pair<typename detail::class_expression<F>::type, T>>(rejection_resample_op,
                                                                               arguments::of(std::move(a)), in.plan());
    } else if constexpr (detail::classifies<F, T>) {
      rejection_resample_arguments a = arguments_;
      a.function = detail::adopt(new detail::keyed_function<T, F>(f_));
      return dataset<std::pair<detail::key_of<F, T>, T>>(rejection_resample_op, arguments::of(std::move(a)), in.plan());
    } else {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "rejection_resample: the function must take const T& and return a whole number, the class");
      return dataset<refused>();
    }
  }

 private:
  F f_;
  rejection_resample_arguments arguments_;
};

template <class F>
auto rejection_resample(F class_function, std::vector<double> target_dist, rejection_resample_options o = {}) {
  auto a = detail::resample_arguments<F>(std::move(target_dist), std::move(o));
  return rejection_resample_verb<F>(std::move(class_function), std::move(a));
}
SLUICE_FUNCTION_OPTIONS_IN_BRACES(rejection_resample_verb<F>, rejection_resample, rejection_resample_options,
                                  "rejection_resample(f, {0.5, 0.5}, {.seed = 7})", std::vector<double>)

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::rejection_resample;
using lib::rejection_resample_options;

}  // namespace sluice
