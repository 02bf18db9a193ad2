// SPDX-License-Identifier: Apache-2.0
// The arguments of checkpoint, which shows, compares, and divides checkpoints.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sluice::lib::cli {

struct checkpoint_arguments {
  std::string action;
  std::vector<std::string> files;
  std::string plan;      ///< empty: not given
  std::uint64_t to = 0;  ///< the new number of consumers
  std::string folder;
  bool global_order = false;
};

/// show: prints a checkpoint in words. diff: prints the lines that differ; kFailed if any does. reshard: writes the
/// checkpoints of another number of consumers (sluice/pipeline/reshard.hpp).
int checkpoint_files(const checkpoint_arguments& a);
/// Sets `verb` if checkpoint was typed.
void add_checkpoint(CLI::App& app, std::function<int()>& verb);

}  // namespace sluice::lib::cli
