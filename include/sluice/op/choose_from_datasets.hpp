// SPDX-License-Identifier: Apache-2.0
// choose_from_datasets: for each number of a selector, the next element of the dataset with that number.
//
//   choose_from_datasets({range(10), range(100, {.start = 90})}, range(4) | map([](std::int64_t i) { return i % 2; }))  // 0 90 1 91
//   choose_from_datasets({cats, dogs}, turns, {.stop_on_empty_dataset = false})
//
// In plan text the selector follows the list: choose_from_datasets([A, B], SELECTOR).
// Shape:  T, the element type of all datasets. The selector's elements are numbers from 0.
// Order:  the selector's. Each dataset makes its own random draws, even if two are the same plan.
// Ends:   with the selector, or when a chosen dataset has no more elements. With stop_on_empty_dataset=false such a
//         choice is skipped.
// Errors: invalid_argument: the selector yields a number that belongs to no dataset. Under error_policy::skip that
//         number is dropped and counted. Also the errors of the inputs.
// Owns:   from each dataset at most the elements that one block of the selector chooses.
// State:  the position of each dataset and of the selector. A skip makes the selector's elements, because they
//         determine which datasets advance.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info choose_from_datasets_op;

struct choose_from_datasets_options {
  bool stop_on_empty_dataset = true;  ///< false: choices of a dataset that has ended are skipped
};
struct choose_from_datasets_arguments {
  choose_from_datasets_options options = {};
};

node_ptr chosen_from(std::vector<node_ptr> datasets, const node_ptr& selector, choose_from_datasets_options o);

/// Errors: invalid_argument: the list of datasets is empty.
template <class T>
dataset<T> choose_from_datasets(const std::vector<dataset<T>>& datasets, const dataset<std::int64_t>& selector,
                                choose_from_datasets_options o = {}) {
  return dataset<T>(chosen_from(plans_of(datasets), selector.plan(), o));
}
template <class T>
dataset<T> choose_from_datasets(std::initializer_list<dataset<T>> datasets, const dataset<std::int64_t>& selector,
                                choose_from_datasets_options o = {}) {
  return choose_from_datasets(std::vector<dataset<T>>(datasets), selector, o);
}
SLUICE_TYPED_OPTIONS_IN_BRACES(dataset<T>, choose_from_datasets, choose_from_datasets_options,
                               "choose_from_datasets({a, b}, selector, {.stop_on_empty_dataset = false})",
                               std::initializer_list<dataset<T>>, const dataset<std::int64_t>&)

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::choose_from_datasets;
using lib::choose_from_datasets_options;

}  // namespace sluice
