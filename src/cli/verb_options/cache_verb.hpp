// SPDX-License-Identifier: Apache-2.0
// The arguments of cache, which looks at the file of a cache, or removes it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace sluice::lib::cli {

/// show: prints what the cache was made from, and how many elements it has. verify: reads all of them; kFailed if the file is
/// damaged. drop: removes the file; kUnavailable while a process writes it.
int cache(const std::string& action, const std::string& path);
/// Sets `verb` if cache was typed.
void add_cache(CLI::App& app, std::function<int()>& verb);

}  // namespace sluice::lib::cli
