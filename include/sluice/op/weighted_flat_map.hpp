// SPDX-License-Identifier: Apache-2.0
// weighted_flat_map: takes elements from datasets in proportion to weights, one dataset after the other.
//
//   weighted_flat_map({numbers, ids | repeat(2)}, {.weights = {0.7, 0.3}})
//   weighted_flat_map({range(100), range(100), range(10)}, {.weights = {0.2, 0.3, 0.5}}) | global_shuffle()      // 4, 6 and 10
//
// In plan text: weighted_flat_map([A, B], weights=[0.7, 0.3]). It takes as many elements in this proportion as possible
// without taking an element twice: the dataset that runs out first is taken whole. A global_shuffle mixes them.
// Shape:  T, the element type of all datasets. The number of elements is known.
// Order:  the first elements of the first dataset, then those of the next.
// Ends:   after the computed number of elements of each dataset.
// Errors: invalid_argument, when the plan is built: the number of weights is not the number of datasets; a weight is
//         not finite and above 0; the number of elements of a dataset is not known, or it never ends.
// State:  the index of the open dataset, and its position.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info weighted_flat_map_op;

struct weighted_flat_map_options {
  std::vector<double> weights = {};  ///< one weight for each dataset, above 0, with any sum; empty: equal weights
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
SLUICE_TYPED_OPTIONS_IN_BRACES(dataset<T>, weighted_flat_map, weighted_flat_map_options,
                               "weighted_flat_map({a, b}, {.weights = {1, 2}})", std::initializer_list<dataset<T>>)
SLUICE_TYPED_OPTIONS_IN_BRACES(dataset<T>, weighted_flat_map, weighted_flat_map_options,
                               "weighted_flat_map(datasets, {.weights = {1, 2}})", const std::vector<dataset<T>>&)

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::weighted_flat_map;
using lib::weighted_flat_map_options;

}  // namespace sluice
