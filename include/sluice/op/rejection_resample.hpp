// SPDX-License-Identifier: Apache-2.0
// rejection_resample: leaves out elements, so that those that stay are of each class as often as is wanted.
//
//   samples | rejection_resample(expr<std::int64_t>("label"), {0.5, 0.5}, {.seed = 1})
//   numbers | rejection_resample(expr<std::int64_t>("it % 2"), {0.9, 0.1})
//   range(100) | rejection_resample([](std::int64_t x) { return x % 10 / 9; }, {0.5, 0.5}, {.initial_dist = {0.9, 0.1}})
//
// In plan text: rejection_resample(label, [0.5, 0.5], initial_dist=[0.9, 0.1], seed=1).
// An element of class c stays with a probability in proportion to target_dist[c] / initial_dist[c]; that of the class which is to become
// the most frequent, compared with what it is, is 1. The draw for the k-th element is a function of the seed and of k. Where
// initial_dist is not given it is what has come so far, as if ten of each class had come before.
// Shape:  std::pair<K, T>: the class and the element. The class function takes const T& and returns a whole number.
// Order:  as the input's. An element is delivered once at most.
// Ends:   with the input.
// Errors: invalid_argument, when the plan is made: a probability is negative or not finite; target_dist is empty or has no class;
//         initial_dist has another length, or is 0 for a class that target_dist wants. In a run, with the element's number: the
//         class is none of 0 … target_dist's length - 1; errors of the class function. Under error_policy::skip these elements are
//         dropped and counted.
// State:  the input's position; without initial_dist, how many of each class have come.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/engine/keys.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info rejection_resample_op;

struct rejection_resample_options {
  std::vector<double> initial_dist = {};  ///< how often each class comes, of any sum; empty: what has come so far
  sluice::lib::seed seed = {};            ///< of the draws; -1: drawn once per run
};
struct rejection_resample_arguments {
  function_arg<key_function> function = {};  ///< from an element to its class, 0, 1, 2 …
  std::vector<double> target_dist = {};      ///< how often each class is to be delivered, of any sum
  rejection_resample_options options = {};
};

namespace detail {
template <class F, class T>
concept classifies = keys<F, T> && std::is_integral_v<key_of<F, T>> && !std::is_same_v<key_of<F, T>, bool>;
/// A template, so that it is looked at when a program resamples.
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

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::rejection_resample;
using lib::rejection_resample_options;

}  // namespace sluice
