// SPDX-License-Identifier: Apache-2.0
// register_dataset: gives a plan to a dispatcher under an id, by which other programs read it.
//
//   auto registering = register_dataset(rt, "10.0.0.1:7700", records | map(parse), "train-v3");
//   std::string id = co_await registering;                                  // "train-v3"
//   auto ds = from_dataset_id<sample>("10.0.0.1:7700", id);                 // in any program: op/from_dataset_id.hpp
//
// Without an id the dispatcher makes one, the same one for the same plan. A registration may be repeated.
// Errors: already_exists: the id has another plan. failed_precondition: a part of the plan cannot be sent to another
//         process; the message names the stage and the remedy. unavailable: the dispatcher does not answer for as long
//         as `patience`.
// Thread: any.
// See:    docs/service.md
#pragma once

#include <chrono>
#include <string>

#include "sluice/coro/task.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

/// `patience`: how long to wait for a dispatcher that cannot be reached; 0: without end.
task<std::string> register_dataset(runtime& rt, std::string address, const plan_holder& dataset,
                                   std::string dataset_id = {},
                                   std::chrono::nanoseconds patience = std::chrono::seconds(5));

namespace detail {
task<std::string> register_plan(runtime& rt, std::string address, node_ptr plan, std::string dataset_id,
                                std::chrono::nanoseconds patience);
}  // namespace detail

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::register_dataset;

}  // namespace sluice
