// SPDX-License-Identifier: Apache-2.0
// Reads files through the reader that plan_files registers (sluice/io/plan_files.hpp).
#pragma once

#include <cstddef>
#include <string>

#include "sluice/base/result.hpp"

namespace sluice::lib::detail {

/// Returns the first bytes of a remote file, at most `bytes_max`. Blocks.
result<std::string> read_for_plan(const std::string& path, std::size_t bytes_max);

}  // namespace sluice::lib::detail
