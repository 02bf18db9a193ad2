// SPDX-License-Identifier: Apache-2.0
// sample_from_datasets: draws a dataset at random for each element, and takes its next element.
//
//   sample_from_datasets({cats, dogs}, {.weights = {0.7, 0.3}, .seed = 1})      // 7 of 10 are cats
//   sample_from_datasets({cats | repeat(), dogs | repeat()})                    // for ever, half of each
//
//   auto shares = step_weights([](std::int64_t k) { return std::array{1.0, static_cast<double>(k) / 1000}; });
//   sample_from_datasets({cats, dogs}, {.weights_at = shares})                  // ever more dogs
//
// In plan text: sample_from_datasets([A, B], weights=[0.7, 0.3], seed=1), and weights_at=[1.0, it / 1000.0], where `it`
// is the number of elements drawn before. The draw for the k-th element is a function of the seed and of k, so the
// order is the same on any number of workers and after a resume. A dataset that has ended is no longer drawn: the
// others get its share, in proportion.
// Shape:  T, the element type of all datasets.
// Order:  each dataset's own. Each makes its own random draws, even if two are the same plan.
// Ends:   when all datasets have ended; with stop_on_empty_dataset when a drawn dataset has ended, so that the shares
//         stay as given. Datasets of weight 0 are never read, except with weights_at when no other dataset is left; if
//         all weights are 0, nothing is delivered.
// Errors: invalid_argument, when the plan is built: the number of weights is not the number of datasets; a weight is
//         negative or not finite; both weights and weights_at are given. The weights that weights_at returns are
//         checked in the same way in a run; the error has the step's number, and is also given if the function fails.
//         Under error_policy::skip that step is dropped and counted, and the next one draws. failed_precondition:
//         10,000 such steps in a row have failed, in which no input can end.
// Owns:   from each dataset at most its share of the next 256 elements.
// State:  the number of draws, which datasets have ended, and the position of each.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "sluice/engine/detail/element_functions.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info sample_from_datasets_op;

struct sample_from_datasets_options {
  std::vector<double> weights = {};  ///< one weight for each dataset, ≥ 0, with any sum; empty: equal weights
  /// the weights as a function of the step: it takes an int64, the number of elements before, and returns a list or an
  /// array of numbers
  number_function<detail::finishing_form> weights_at = {};
  sluice::lib::seed seed = {};            ///< seed of the draws; -1: from the run's seed and the site
  bool stop_on_empty_dataset = false;     ///< true: end when a drawn dataset has ended
  bool reshuffle_each_iteration = false;  ///< other draws in each epoch of a repeat
};
struct sample_from_datasets_arguments {
  sample_from_datasets_options options = {};
};

/// Makes a value for weights_at. f takes a std::int64_t and returns a std::vector or std::array of numbers.
template <class F> number_function<detail::finishing_form> step_weights(F f) {
  static_assert(detail::maps<F, std::int64_t>,
                "step_weights: the function must take a std::int64_t and return weights");
  return detail::adopt(new detail::map_function<std::int64_t, F>(std::move(f)));
}
inline number_function<detail::finishing_form> step_weights(expression weights) {
  return expression_function(std::move(weights));
}

node_ptr sampled_from(std::vector<node_ptr> datasets, sample_from_datasets_options o);

/// Errors: invalid_argument: see above, or the list of datasets is empty.
template <class T>
dataset<T> sample_from_datasets(const std::vector<dataset<T>>& datasets, sample_from_datasets_options o = {}) {
  return dataset<T>(sampled_from(plans_of(datasets), std::move(o)));
}
template <class T>
dataset<T> sample_from_datasets(std::initializer_list<dataset<T>> datasets, sample_from_datasets_options o = {}) {
  return sample_from_datasets(std::vector<dataset<T>>(datasets), std::move(o));
}
SLUICE_TYPED_OPTIONS_IN_BRACES(dataset<T>, sample_from_datasets, sample_from_datasets_options,
                               "sample_from_datasets({a, b}, {.weights = {1, 2}})", std::initializer_list<dataset<T>>)
SLUICE_TYPED_OPTIONS_IN_BRACES(dataset<T>, sample_from_datasets, sample_from_datasets_options,
                               "sample_from_datasets(datasets, {.weights = {1, 2}})", const std::vector<dataset<T>>&)

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::sample_from_datasets;
using lib::sample_from_datasets_options;
using lib::step_weights;

}  // namespace sluice
