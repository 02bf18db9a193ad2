// SPDX-License-Identifier: Apache-2.0
// from_dataset_id: the elements of a dataset that another program has registered with a dispatcher.
//
//   from_dataset_id<std::int64_t>("10.0.0.1:7700", "train-v3", {.job = "training"}) | batch(64)    // each rank
//
// Plan text: from_dataset_id("10.0.0.1:7700", "train-v3", job="training"). register_dataset (service/register_dataset.hpp) and
// `sluice register` register plans.
//
// The dispatcher is asked for the plan when the plan is built. from_dataset_id is replaced by that plan and distribute,
// and prints so: tfrecord("a") | map("parse") | distribute("10.0.0.1:7700", job="training"). It therefore has the order,
// options, errors and positions of distribute (sluice/op/distribute.hpp), and the type and size of the registered plan.
//
// Errors: when the plan is built: not_found: the dispatcher has no such dataset. unavailable: the dispatcher does not answer
//         for as long as `patience`, or 5 s. failed_precondition: the plan names a function that this program does not
//         have, or its elements have another type here than where it was registered. invalid_argument:
//         from_dataset_id<T> with another type than that of the elements.
// Thread: any. The call waits for the dispatcher, on a small runtime of its own.
// See:    docs/service.md, service/register_dataset.hpp.
#pragma once

#include <string>
#include <string_view>

#include "sluice/base/field_types.hpp"
#include "sluice/engine/distribute_options.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info from_dataset_id_op;

struct from_dataset_id_arguments {
  required_text address = {};     ///< of the dispatcher, "host:port"
  required_text dataset_id = {};  ///< the id that was given to, or returned by, the registration
  distribute_options options = {};
};

/// REQUIRES: T is the type of the elements of the registered plan.
template <class T>
dataset<T> from_dataset_id(std::string_view address, std::string_view dataset_id, distribute_options o = {}) {
  return dataset<T>(from_dataset_id_op, arguments::of(from_dataset_id_arguments{
                                            std::string(address), std::string(dataset_id), std::move(o)}));
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::from_dataset_id;

}  // namespace sluice
