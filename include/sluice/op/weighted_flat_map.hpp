// SPDX-License-Identifier: Apache-2.0
// weighted_flat_map: of each dataset as many elements as its weight says, one dataset after the other; global_shuffle mixes them.
//
//   weighted_flat_map({numbers, ids | repeat(2)}, {.weights = {0.7, 0.3}})
//   weighted_flat_map({range(100), range(100), range(10)}, {.weights = {0.2, 0.3, 0.5}}) | global_shuffle()      // 4, 6 and 10
//
// In plan text: weighted_flat_map([A, B], weights=[0.7, 0.3]). Elements are taken in the proportion of the weights, as many as there can be
// without taking one twice: of the dataset that runs out first all of them.
// Shape:  T, that of all datasets. The number of elements is known.
// Order:  the first elements of the first dataset, then those of the next.
// Ends:   after so many elements of each.
// Errors: invalid_argument, when the plan is made: there is another number of weights than of datasets; one is not finite and above 0; the
//         number of elements of a dataset is not known, or has no end.
// State:  the index of the open dataset, and its position.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info weighted_flat_map_op;

struct weighted_flat_map_options {
  std::vector<double> weights = {};  ///< one for each dataset, above 0, of any sum; empty: all alike
};
struct weighted_flat_map_arguments {
  weighted_flat_map_options options = {};
};

node_ptr flattened_by_weight(std::vector<node_ptr> datasets, weighted_flat_map_options o);

template <class T>
dataset<T> weighted_flat_map(const std::vector<dataset<T>>& datasets, weighted_flat_map_options o = {}) {
  return dataset<T>(flattened_by_weight(plans_of(datasets), std::move(o)));
}
template <class T>
dataset<T> weighted_flat_map(std::initializer_list<dataset<T>> datasets, weighted_flat_map_options o = {}) {
  return weighted_flat_map(std::vector<dataset<T>>(datasets), std::move(o));
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::weighted_flat_map;
using lib::weighted_flat_map_options;

}  // namespace sluice
