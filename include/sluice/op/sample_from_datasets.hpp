// SPDX-License-Identifier: Apache-2.0
// sample_from_datasets: elements of several datasets, each from one that is drawn.
//
//   sample_from_datasets({cats, dogs}, {.weights = {0.7, 0.3}, .seed = 1})      // 7 of 10 are cats
//   sample_from_datasets({cats | repeat(), dogs | repeat()})                    // for ever, half of each
//
//   auto shares = step_weights([](std::int64_t k) { return std::array{1.0, static_cast<double>(k) / 1000}; });
//   sample_from_datasets({cats, dogs}, {.weights_at = shares})                  // ever more dogs
//
// In plan text: sample_from_datasets([A, B], weights=[0.7, 0.3], seed=1), and weights_at=[1.0, it / 1000.0], where `it` is the number
// of elements that were drawn before.
// The draw for the k-th element is a function of the seed and of k, so the order is the same on any number of workers and after a resume. A
// dataset that has ended is drawn no more: its share goes to the others, in proportion.
// Shape:  T, that of all datasets.
// Order:  of each dataset its own. Each has random draws of its own, even if two are the same plan.
// Ends:   when all datasets have; with stop_on_empty_dataset when the first that is drawn has ended, so that the shares stay as they were
//         given. Datasets of weight 0 are never asked. With weights_at they are asked where no other dataset is left.
// Errors: invalid_argument, when the plan is made: there is another number of weights than of datasets; one is negative or not
//         finite; all are 0; both weights and weights_at are given. The same in a run, of what weights_at says, with the step;
//         also where the function fails; under error_policy::skip that step is dropped and counted, and the next one draws;
//         failed_precondition after 10,000 such steps in a row, since no input ends there.
// Owns:   of each dataset at most the elements of it among the next 256.
// State:  the number of draws, which datasets have ended, and the position of each.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "sluice/engine/detail/element_functions.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info sample_from_datasets_op;

struct sample_from_datasets_options {
  std::vector<double> weights = {};  ///< one for each dataset, ≥ 0, of any sum; empty: all alike
  /// the weights as a function of the step: from an int64, the number of elements before, to a list or an array of numbers
  number_function<detail::finishing_form> weights_at = {};
  sluice::lib::seed seed = {};           ///< of the draws; -1: drawn once per run
  bool stop_on_empty_dataset = false;    ///< end when a dataset that is drawn has ended
  bool reshuffle_each_iteration = true;  ///< other draws in each epoch of a repeat
};
struct sample_from_datasets_arguments {
  sample_from_datasets_options options = {};
};

/// For weights_at: f takes a std::int64_t and returns a std::vector or std::array of numbers.
template <class F> number_function<detail::finishing_form> step_weights(F f) {
  static_assert(detail::maps<F, std::int64_t>,
                "step_weights: the function must take a std::int64_t and return weights");
  return detail::adopt(new detail::map_function<std::int64_t, F>(std::move(f)));
}
inline number_function<detail::finishing_form> step_weights(expression weights) {
  return expression_function(std::move(weights));
}

node_ptr sampled_from(std::vector<node_ptr> datasets, sample_from_datasets_options o);

/// Errors: invalid_argument: see above, or there is no dataset.
template <class T>
dataset<T> sample_from_datasets(const std::vector<dataset<T>>& datasets, sample_from_datasets_options o = {}) {
  return dataset<T>(sampled_from(plans_of(datasets), std::move(o)));
}
template <class T>
dataset<T> sample_from_datasets(std::initializer_list<dataset<T>> datasets, sample_from_datasets_options o = {}) {
  return sample_from_datasets(std::vector<dataset<T>>(datasets), std::move(o));
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::sample_from_datasets;
using lib::sample_from_datasets_options;
using lib::step_weights;

}  // namespace sluice
