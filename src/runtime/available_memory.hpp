// SPDX-License-Identifier: Apache-2.0
// How much memory this process may still use: the smallest amount that the machine and each enclosing cgroup have left.
#pragma once

#include <cstddef>
#include <string>

namespace sluice::lib {

/// `root`: the folder that contains /proc and /sys; tests pass their own.
std::size_t available_memory_bytes(const std::string& root = "");

}  // namespace sluice::lib
