// SPDX-License-Identifier: Apache-2.0
// Reads what plan_files makes known (sluice/io/plan_files.hpp).
#pragma once

#include <cstddef>
#include <string>

#include "sluice/base/result.hpp"

namespace sluice::lib::detail {

/// The first bytes of a remote file, as many as there are up to `bytes_max`. Blocks.
result<std::string> read_for_plan(const std::string& path, std::size_t bytes_max);

}  // namespace sluice::lib::detail
