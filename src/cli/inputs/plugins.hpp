// SPDX-License-Identifier: Apache-2.0
// Shared objects that register functions, for plans of this program. docs/plugins.md
#pragma once

#include <string>
#include <vector>

namespace sluice::lib::cli {

/// Registers what the libraries that this program was linked with offer: functions of images, SQLite, TCP.
void register_libraries();

/// Loads the shared objects in this order, for the lifetime of the process. A path without a slash is a file in the
/// current folder. Errors: throws misuse, with the path: the file does not exist, cannot be loaded, was compiled for
/// another version, registers nothing, or registers a name that has another function.
void load_plugins(const std::vector<std::string>& paths);

}  // namespace sluice::lib::cli
