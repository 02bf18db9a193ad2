// SPDX-License-Identifier: Apache-2.0
// round_robin: takes one element from each dataset, again and again.
//
//   round_robin({range(3), range(12, {.start = 10})})       // 0 10 1 11 2
//
// In plan text: round_robin([A, B]). For datasets that are made from elements, of which there may be many, use
// interleave.
// Shape:  T, the element type of all datasets.
// Order:  the datasets alternate; a dataset that has ended is left out from then on. Each makes its own random draws,
//         even if two are the same plan.
// Ends:   when all datasets have ended; with stop_on_empty_dataset when a dataset has ended and its turn comes.
// Owns:   from each dataset at most its share of the next 256 elements.
// State:  which dataset is next, which datasets have ended, and the position of each.
#pragma once

#include <initializer_list>
#include <vector>

#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info round_robin_op;

struct round_robin_options {
  bool stop_on_empty_dataset = false;  ///< true: end when the next dataset in the cycle has ended
};
struct round_robin_arguments {
  round_robin_options options = {};
};

node_ptr taken_by_turns(std::vector<node_ptr> datasets, round_robin_options o);

/// Errors: invalid_argument: the list of datasets is empty.
template <class T> dataset<T> round_robin(const std::vector<dataset<T>>& datasets, round_robin_options o = {}) {
  return dataset<T>(taken_by_turns(plans_of(datasets), o));
}
template <class T> dataset<T> round_robin(std::initializer_list<dataset<T>> datasets, round_robin_options o = {}) {
  return round_robin(std::vector<dataset<T>>(datasets), o);
}
SLUICE_TYPED_OPTIONS_IN_BRACES(dataset<T>, round_robin, round_robin_options,
                               "round_robin({a, b}, {.stop_on_empty_dataset = true})",
                               std::initializer_list<dataset<T>>)
SLUICE_TYPED_OPTIONS_IN_BRACES(dataset<T>, round_robin, round_robin_options,
                               "round_robin(datasets, {.stop_on_empty_dataset = true})", const std::vector<dataset<T>>&)

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::round_robin;
using lib::round_robin_options;

}  // namespace sluice
