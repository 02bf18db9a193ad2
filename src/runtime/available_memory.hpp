// SPDX-License-Identifier: Apache-2.0
// How much memory this process may still take: the smallest of what the machine and each enclosing cgroup have left.
#pragma once

#include <cstddef>
#include <string>

namespace sluice::lib {

/// `root` is where /proc and /sys are; tests put their own there.
std::size_t available_memory_bytes(const std::string& root = "");

}  // namespace sluice::lib
