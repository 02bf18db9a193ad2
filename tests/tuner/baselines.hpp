// SPDX-License-Identifier: Apache-2.0
// The algorithms of tf.data (core/framework/model.cc) as policies, for comparisons: its model of a chain of stages, whose
// consumer is infinitely fast, and four ways to choose values by it. They set `parallelism` alone.
#pragma once

#include <vector>

#include "tuner/scenario.hpp"

namespace sluice::lib::test {

struct baseline {
  const char* name;
  policy_maker make;
};

/// Hill climb, gradient descent, max parallelism, stage-based.
const std::vector<baseline>& all_baselines();

/// A policy that sets nothing.
std::unique_ptr<tuning_policy> no_policy(unsigned cores);

}  // namespace sluice::lib::test
