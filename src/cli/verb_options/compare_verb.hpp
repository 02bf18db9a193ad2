// SPDX-License-Identifier: Apache-2.0
// The arguments of compare, which finds where two sequences of elements diverge.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "cli/inputs/reading.hpp"

namespace sluice::lib::cli {

struct compare_arguments {
  std::string left, right;  ///< plans, files, or data folders; or reports and checkpoints
  std::uint64_t seed = 0;   ///< of both runs
  reading_arguments reading = {};
};

/// Prints the first element that differs, and returns kFailed; or that all are the same, with a digest of their texts.
int compare(const compare_arguments& a);
/// Sets `verb` if compare was typed.
void add_compare(CLI::App& app, reading_arguments& reading, std::function<int()>& verb);

}  // namespace sluice::lib::cli
