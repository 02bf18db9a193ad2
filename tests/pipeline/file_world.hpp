// SPDX-License-Identifier: Apache-2.0
// A simulated world with files in it, for one test.
#pragma once

#include <memory>

#include "sluice/io/files.hpp"
#include "sluice/io/simulated_file_system.hpp"
#include "sluice/runtime/runtime.hpp"
#include "sluice/runtime/simulation.hpp"

namespace sluice::lib::testing {

struct file_world {
  explicit file_world(std::uint64_t seed = 1, std::size_t memory_budget_bytes = 0)
      : world(seed), rt(world, {.workers = 2, .memory_budget_bytes = memory_budget_bytes}) {
    auto made = std::make_unique<simulated_file_system>(world);
    files = made.get();
    set_files(rt, std::move(made));
  }
  simulation world;
  runtime rt;
  simulated_file_system* files;  ///< the runtime's
};

}  // namespace sluice::lib::testing
