// SPDX-License-Identifier: Apache-2.0
// interleave: opens a dataset for each element, and visits several of these datasets in a cycle.
//
//   list_files("train-*.tfrecord") | interleave(tfrecord, {.cycle_length = 16, .parallelism = autotune})
//
// It has `cycle_length` slots, which are visited one after the other. A visit to a slot with an open dataset delivers
// up to `block_length` of its elements; if the dataset ends, the slot becomes empty and the visit is over. A visit to
// an empty slot opens the dataset of the next input element there. So a dataset is replaced one cycle after its end, as
// in tf.data.
// Order:  deterministic: the order described above, with any parallelism. sloppy: from any slot that has an element
//         ready, and in order within a slot; positions contain the choices made, so that a resume neither loses nor
//         repeats an element.
// Errors: invalid_argument when the plan is made: cycle_length or parallelism above 65,536. An error of an inner
//         dataset ends the stream. Under error_policy::skip a file that cannot be opened is dropped as one bad element.
// Thread: with parallelism each open dataset has a pump that works ahead into a channel; at most `parallelism` pumps
//         work at the same time. interleave opens the dataset of an empty slot before its visit, as soon as the input
//         delivers the element.
// State:  for each slot the ordinal of its element, and the position in its dataset.
#pragma once

#include <utility>

#include "sluice/engine/detail/inner_functions.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info interleave_op;

struct interleave_options {
  count_up_to<65'536> cycle_length = 16;  ///< number of datasets open at once; it determines the order, so it is not a
                                          ///< knob
  count block_length = 1;                 ///< most elements delivered in one visit
  knob_up_to<65'536> parallelism = {};    ///< number of datasets that work ahead at once; 1: none, each is read on
                                          ///< demand
  sluice::lib::order order = order::deterministic;
};
struct interleave_arguments {
  inner_plan<opens::readers, plan_function> inner = {};  ///< the plan that is opened for each element
  interleave_options options = {};
};

template <class F> class interleave_verb : public stage_base_tag {
 public:
  interleave_verb(F f, interleave_options o) : f_(std::move(f)), options_(o) {}
  template <class T> auto apply(const dataset<T>& in) const {
    return detail::over_inner_plans(interleave_op, in, f_, [this](auto inner) {
      return arguments::of(interleave_arguments{std::move(inner), options_});
    });
  }

 private:
  F f_;
  interleave_options options_;
};

template <class F> interleave_verb<F> interleave(F f, interleave_options o = {}) { return {std::move(f), o}; }
SLUICE_FUNCTION_OPTIONS_IN_BRACES(interleave_verb<F>, interleave, interleave_options,
                                  "interleave(f, {.cycle_length = 4})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::interleave;
using lib::interleave_options;

}  // namespace sluice
