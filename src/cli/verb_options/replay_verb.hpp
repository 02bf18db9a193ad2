// SPDX-License-Identifier: Apache-2.0
// The arguments of replay, which makes a bad element of a quarantine again.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/inputs/reading.hpp"
#include "cli/options/identity_options.hpp"

namespace sluice::lib::cli {

struct replay_arguments {
  std::string entry;  ///< FILE#N
  std::string plan;   ///< empty: that of the entry
  std::string changed_inputs = "refuse";
  identity_arguments identity = {};
  reading_arguments reading = {};
};

/// Prints what entered and left each stage. Returns kFailed if the element fails again, kOk if not.
int replay(const replay_arguments& a);
/// Sets `verb` if replay was typed.
void add_replay(CLI::App& app, reading_arguments& reading, std::function<int()>& verb);

}  // namespace sluice::lib::cli
