// SPDX-License-Identifier: Apache-2.0
// Scenarios of the tuner (bench/tuner/*.scenario): a pipeline and its consumer by their costs, run in virtual time.
//
//   # a comment
//   stage NAME wait=20ms | call=100ms | work=5ms [jitter=0.5] [slow=10 every=30] [slots=10]
//   consumer 20ms
//   elements 3000
//   reaches 0.97           of the best setting of the grid, at least
//   keeps 0.9              of the rate without a tuner, at least
//   memory 1.1             times that of the best setting of the grid at the same rate, at most, and one call more for each knob
//   at 10s NAME 4          from this moment on, its time is multiplied by 4 (NAME of a stage, or consumer)
//
// wait: one call after the other; call: calls that wait, parallelism=autotune; work: a function that computes,
// parallelism=autotune. jitter: times differ by up to this share; slow, every: one element of `every` takes `slow` times as
// long; slots: the number of calls that the server makes without becoming slower.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tuner/policy.hpp"

namespace sluice::lib::test {

struct scenario {
  enum class kind : std::uint8_t { wait, call, work };
  struct stage {
    std::string name;
    kind of = kind::call;
    duration time{};
    double jitter = 0, slow = 1;
    std::int64_t every = 0, slots = 0;
  };
  struct change {
    duration at{};
    std::string name;
    double factor = 1;
  };
  std::string name;
  std::vector<stage> stages;
  duration consumer{};
  std::int64_t elements = 3000;
  std::vector<change> changes;
  double reaches = 0.97;  ///< of the best setting of the grid
  double keeps = 0.9;     ///< of the rate without a tuner
  double memory = 1.1;    ///< of that of the best setting of the grid: the sum of the knobs' values

  /// The scenario as it is after its changes.
  scenario at_the_end() const;
  std::size_t knobs() const;
};

/// Throws std::invalid_argument for a line that it does not know.
scenario read_scenario(const std::string& path);
/// Those of bench/tuner, by name.
std::vector<scenario> all_scenarios();

struct scenario_outcome {
  std::int64_t elements = 0;         ///< that the consumer has taken
  double rate = 0;                   ///< elements per second at the end
  double whole_rate = 0;             ///< of the whole run
  double seconds_to_95 = 0;          ///< until a second has 0.95 of the rate at the end; scenarios without changes only
  std::int64_t in_flight = 0;        ///< the most calls of all stages at any time
  std::vector<std::int64_t> values;  ///< of the knobs at the end, the first stage first
  std::int64_t sum = 0;              ///< of these values
  std::uint64_t steps = 0;
  std::vector<std::string> reasons;  ///< of the tuner, a line for each knob
  /// A change, and the gain that the tuner predicts for it.
  struct gain {
    std::string change;
    std::size_t stage = 0;  ///< the index of the stage that is twice as fast; kCore: one more core
    double expected = 0;    ///< 0.38: 38 % more elements per second
  };
  static constexpr std::size_t kCore = 1000, kSource = 1001;
  std::vector<gain> gains;
};

using policy_maker = std::function<std::unique_ptr<tuning_policy>(unsigned cores)>;

/// With the tuner of the library.
scenario_outcome run_tuned(const scenario& s, unsigned cores);
/// With another policy.
scenario_outcome run_with(const scenario& s, unsigned cores, const policy_maker& policy);
/// With fixed values.
scenario_outcome run_fixed(const scenario& s, unsigned cores, const std::vector<std::int64_t>& values);

/// On this machine, on a runtime with this number of workers; tuned if `values` is empty.
scenario_outcome run_really(const scenario& s, unsigned workers, const std::vector<std::int64_t>& values);

/// The fastest setting of a grid, and among those that are as fast (within 2 %) the one with the least sum.
scenario_outcome best_of_grid(const scenario& s, unsigned cores);

}  // namespace sluice::lib::test
