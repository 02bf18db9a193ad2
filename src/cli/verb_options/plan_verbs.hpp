// SPDX-License-Identifier: Apache-2.0
// The arguments of splits, which prints how a plan is divided among workers, and of index.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "cli/inputs/format_options.hpp"
#include "cli/inputs/reading.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {

struct splits_arguments {
  std::string plan;       ///< or a file
  std::string plan_file;  ///< if not empty, the file that contains the plan
  // At most one of these is not 0.
  std::uint64_t splits = 0, split_bytes = 0, split_elements = 0;
  std::string visitation = "exactly_once";
  std::uint64_t round = 0, seed = 0, epoch = 0;
  bool as_json = false;
  reading_arguments reading = {};
};
/// Prints the stages that run in the client, and the plan of each split.
int splits(const splits_arguments& arguments);
/// Prints the stages of a plan, and whether workers or the client run each of them.
void print_places(const node_ptr& plan);
/// Sets `verb` if splits was typed. `reading`: its reading options, which are known by then.
void add_splits(CLI::App& app, reading_arguments& reading, std::function<int()>& verb);

/// The same for index. `format`: the options about its files.
void add_index(CLI::App& app, reading_arguments& reading, format_arguments& format, std::function<int()>& verb);

}  // namespace sluice::lib::cli
