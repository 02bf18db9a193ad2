// SPDX-License-Identifier: Apache-2.0
// Checkpoints as files; they are written as whole_file.
#pragma once

#include <string>

#include "sluice/coro/position.hpp"

namespace sluice::cli {

/// Errors: `error`, naming the file.
std::string read_checkpoint(const std::string& path);

}  // namespace sluice::cli
