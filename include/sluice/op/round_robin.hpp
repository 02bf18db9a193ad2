// SPDX-License-Identifier: Apache-2.0
// round_robin: one element of each dataset in turn.
//
//   round_robin({range(3), range(12, {.start = 10})})       // 0 10 1 11 2
//
// In plan text: round_robin([A, B]). For datasets that are made of elements, which may be many, there is interleave.
// Shape:  T, that of all datasets.
// Order:  by turns; a dataset that has ended is left out from then on. Each has random draws of its own, even if two are the same plan.
// Ends:   when all datasets have; with stop_on_empty_dataset when the first has whose turn it is.
// Owns:   of each dataset at most its share of the next 256 elements.
// State:  whose turn it is, which datasets have ended, and the position of each.
#pragma once

#include <initializer_list>
#include <vector>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info round_robin_op;

struct round_robin_options {
  bool stop_on_empty_dataset = false;  ///< end when the turn is that of a dataset that has ended
};
struct round_robin_arguments {
  round_robin_options options = {};
};

node_ptr taken_by_turns(std::vector<node_ptr> datasets, round_robin_options o);

/// Errors: invalid_argument: there is no dataset.
template <class T> dataset<T> round_robin(const std::vector<dataset<T>>& datasets, round_robin_options o = {}) {
  return dataset<T>(taken_by_turns(plans_of(datasets), o));
}
template <class T> dataset<T> round_robin(std::initializer_list<dataset<T>> datasets, round_robin_options o = {}) {
  return round_robin(std::vector<dataset<T>>(datasets), o);
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::round_robin;
using lib::round_robin_options;

}  // namespace sluice
