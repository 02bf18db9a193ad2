// SPDX-License-Identifier: Apache-2.0
// The options --identity and --rebase of `sluice run`.
#pragma once

#include <string>
#include <vector>

#include "sluice/pipeline/iterate.hpp"

namespace CLI {
class App;
}

namespace sluice::lib::cli {

struct identity_arguments {
  std::vector<std::string> identities = {};  ///< POLICY, or PREFIX=POLICY
  std::vector<std::string> rebases = {};     ///< OLD=NEW, or OLD==NEW
};

void add_identity_options(CLI::App& verb, identity_arguments& to);
/// Throws misuse if an option has another form.
void set_identity(const identity_arguments& a, iterate_options& o);

}  // namespace sluice::lib::cli
