// SPDX-License-Identifier: Apache-2.0
// Checkpoints as files.
#pragma once

#include <string>

#include "sluice/coro/position.hpp"

namespace sluice::cli {

/// Errors: `error`, naming the file.
std::string read_checkpoint(const std::string& path);
/// The old one stays until the new one is complete.
status write_checkpoint(const std::string& path, const std::string& bytes);

}  // namespace sluice::cli
