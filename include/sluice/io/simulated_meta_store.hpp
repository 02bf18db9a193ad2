// SPDX-License-Identifier: Apache-2.0
// A metadata store in the memory of a simulation, with delays and failures that depend on the seed.
//
//   simulated_meta_store store(world, {.fail_chance = 0.1});   // half of the failed commits have happened
//
// Thread: the simulation's.
#pragma once

#include <map>

#include "sluice/io/meta_store.hpp"
#include "sluice/runtime/simulation.hpp"

namespace sluice::lib {

struct simulated_meta_store_options {
  duration delay_max = std::chrono::milliseconds(5);  ///< for the request, and the same for the answer
  double fail_chance = 0;                             ///< for each call, before or after it took effect
};

class simulated_meta_store final : public meta_store {
 public:
  explicit simulated_meta_store(simulation& world, simulated_meta_store_options options = {})
      : world_(world), options_(options) {}

  task<std::optional<meta_entry>> get(std::string key, time_point deadline = kNever) override;
  task<std::vector<meta_entry>> list(std::string prefix, time_point deadline = kNever) override;
  task<std::optional<std::uint64_t>> commit(std::vector<meta_guard> guards, std::vector<meta_write> writes,
                                            time_point deadline = kNever) override;
  task<std::uint64_t> revision(time_point deadline = kNever) override;

  /// Makes the store unreachable until it is set back.
  void set_reachable(bool reachable) noexcept { reachable_ = reachable; }
  /// Stops answering calls from now on: each waits for its deadline, or for a stop. The writes of a commit still
  /// happen.
  void set_silent(bool silent) noexcept { silent_ = silent; }

 private:
  task<std::optional<meta_entry>> get_now(std::string key);
  task<std::vector<meta_entry>> list_now(std::string prefix);
  task<std::optional<std::uint64_t>> commit_now(std::vector<meta_guard> guards, std::vector<meta_write> writes);
  task<std::uint64_t> revision_now();
  task<> travel();
  /// Delays an answer.
  task<> travel_back();
  bool hold(const std::vector<meta_guard>& guards) const;

  simulation& world_;
  simulated_meta_store_options options_;
  bool reachable_ = true;
  bool silent_ = false;
  std::uint64_t revision_ = 0;
  std::map<std::string, meta_entry> entries_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::simulated_meta_store;
using lib::simulated_meta_store_options;

}  // namespace sluice
