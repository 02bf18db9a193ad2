// SPDX-License-Identifier: Apache-2.0
// One random plan put to the test: run, saved at every element, destroyed, resumed, resumed again, passed over.
//
// Everything is drawn from the seed, also how the consumer asks and, in a simulation, who runs next; a complaint is
// therefore repeated by its seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sluice/runtime/runtime.hpp"
#include "support/random/random_plan.hpp"

namespace sluice::lib::test {

struct trial_counts {
  std::uint64_t plans = 0;
  std::uint64_t elements = 0;
  std::uint64_t resumes = 0;
  std::uint64_t retuned = 0;       ///< of them under other knobs
  std::uint64_t knobs_turned = 0;  ///< while a run worked
  std::uint64_t skips = 0;
  std::uint64_t dropped = 0;  ///< streams destroyed in the middle
  std::uint64_t limits = 0;   ///< of errors, that ended a stream
  std::uint64_t checkpoints = 0;
  std::uint64_t checkpoint_bytes = 0;
  std::uint64_t checkpoint_bytes_max = 0;
  std::string to_string() const;
};

struct trial_options {
  runtime* on = nullptr;             ///< null: a simulation of its own for every run
  std::size_t elements_max = 250;    ///< larger plans are not tried
  std::size_t every_place_max = 40;  ///< up to so many elements: resumed at every element, else at some
};

/// What is wrong with the plan's behaviour; nullopt where nothing is, or the plan is too large to be tried.
std::optional<std::string> trial(const plan_description& p, std::uint64_t seed, const trial_options& o,
                                 trial_counts& counts);
/// The same of how it counts bad elements: the count at each element, and where errors_max ends the stream, are those of the
/// plan without channels, asked for one element at a time. Nullopt also for a plan that meets no bad elements.
std::optional<std::string> error_trial(const plan_description& p, std::uint64_t seed, const trial_options& o,
                                       trial_counts& counts);
using plan_judge = decltype(trial);

/// A smaller plan about which the same trial still complains, and the complaint.
std::string shrunk(plan_ptr p, std::uint64_t seed, const trial_options& o, plan_judge* judge = trial);

}  // namespace sluice::lib::test
