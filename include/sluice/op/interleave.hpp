// SPDX-License-Identifier: Apache-2.0
// interleave: several elements' datasets at once, by turns.
//
//   list_files("train-*.tfrecord") | interleave(tfrecord, {.cycle_length = 16, .parallelism = autotune})
//
// `cycle_length` slots are visited in turn. A visit to an open slot takes up to `block_length` elements and goes on to
// the next; when its dataset ends, the slot is emptied and the visit goes on; an empty slot opens the next input element
// there. So a replacement opens one cycle after its predecessor's end, as in tf.data.
// Order:  deterministic: exactly that, also with parallelism. sloppy: whichever slot has something; within a slot in
//         order; a position logs the choices, so a resume loses and repeats nothing.
// Errors: invalid_argument where the plan is made: cycle_length or parallelism above 65,536. Errors of the inner datasets
//         pass through. A file that cannot be opened is an error of its own; under error_policy::skip it is passed over and
//         counted.
// Thread: with parallelism each open dataset works ahead in a channel of its own, `parallelism` of them at once.
//         Empty slots' next datasets are opened, and work, before their visit, as soon as the input has them.
// State:  per slot, which element and where in its dataset.
#pragma once

#include "sluice/op/flat_map.hpp"

namespace sluice::lib {

extern const op_info interleave_op;

struct interleave_options {
  count cycle_length = 16;  ///< datasets open at once, at most 65,536: part of the order, so never tuned
  count block_length = 1;   ///< elements taken in one visit
  knob parallelism = 1;     ///< datasets read at once, at most 65,536; 1: on the consumer's demand
  sluice::lib::order order = order::deterministic;
};
struct interleave_arguments {
  inner_plan<opens::readers, plan_function> inner = {};  ///< what is opened for each element
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

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::interleave;
using lib::interleave_options;

}  // namespace sluice
