// SPDX-License-Identifier: Apache-2.0
// Shared objects that register functions, for plans of this program. docs/plugins.md
#pragma once

#include <string>
#include <vector>

namespace sluice::lib::cli {

/// Loads them, in this order, for as long as the process lives. A path without a slash is a file in the current folder.
/// Errors: throws misuse, with the path: there is no such file, it cannot be loaded, it was compiled for another version, it
/// registers nothing, or a name that is registered otherwise.
void load_plugins(const std::vector<std::string>& paths);

}  // namespace sluice::lib::cli
