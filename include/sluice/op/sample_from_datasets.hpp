// SPDX-License-Identifier: Apache-2.0
// sample_from_datasets: elements of several datasets, each from one that is drawn.
//
//   sample_from_datasets({cats, dogs}, {.weights = {0.7, 0.3}, .seed = 1})      // 7 of 10 are cats
//   sample_from_datasets({cats | repeat(), dogs | repeat()})                    // for ever, half of each
//
// In plan text: sample_from_datasets([A, B], weights=[0.7, 0.3], seed=1).
// The draw for the k-th element is a function of the seed and of k, so the order is the same on any number of workers and after a resume. A
// dataset that has ended is drawn no more: its share goes to the others, in proportion.
// Shape:  T, that of all datasets.
// Order:  of each dataset its own. Each has random draws of its own, even if two are the same plan.
// Ends:   when all datasets have; with stop_on_empty_dataset when the first that is drawn has ended, so that the shares stay as they were
//         given. Datasets of weight 0 are never asked.
// Errors: invalid_argument, when the plan is made: there is another number of weights than of datasets; one is negative or not
//         finite; all are 0.
// Owns:   of each dataset at most the elements of it among the next 256.
// State:  the number of draws, which datasets have ended, and the position of each.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info sample_from_datasets_op;

struct sample_from_datasets_options {
  std::vector<double> weights = {};      ///< one for each dataset, ≥ 0, of any sum; empty: all alike
  sluice::lib::seed seed = {};           ///< of the draws; -1: drawn once per run
  bool stop_on_empty_dataset = false;    ///< end when a dataset that is drawn has ended
  bool reshuffle_each_iteration = true;  ///< other draws in each epoch of a repeat
};
struct sample_from_datasets_arguments {
  sample_from_datasets_options options = {};
};

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

}  // namespace sluice
