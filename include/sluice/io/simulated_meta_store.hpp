// SPDX-License-Identifier: Apache-2.0
// A metadata store in the memory of a simulation, as slow and as unreachable as the seed says.
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
  duration delay_max = std::chrono::milliseconds(5);  ///< there, and the same again back
  double fail_chance = 0;                             ///< of each call, before or after it took effect
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

  /// Nobody reaches it until it is set back.
  void set_reachable(bool reachable) noexcept { reachable_ = reachable; }
  /// From now on no call is answered: it waits for its deadline, or for a stop. What a commit writes, it writes all the same.
  void set_silent(bool silent) noexcept { silent_ = silent; }

 private:
  task<std::optional<meta_entry>> get_now(std::string key);
  task<std::vector<meta_entry>> list_now(std::string prefix);
  task<std::optional<std::uint64_t>> commit_now(std::vector<meta_guard> guards, std::vector<meta_write> writes);
  task<std::uint64_t> revision_now();
  task<> travel();
  /// The way of an answer.
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
