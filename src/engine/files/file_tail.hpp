// SPDX-License-Identifier: Apache-2.0
// Reads the last bytes of a file, local or remote. Formats with a footer are examined by it when a plan is built.
// Thread: blocks. It is called while a plan is built, never in a run.
#pragma once

#include <cstdint>
#include <string>

#include "sluice/base/result.hpp"

namespace sluice::lib {

/// Returns the last bytes, at most `bytes_max`, and the size of the file in `size_bytes`. Errors: the file's, with its
/// name; invalid_argument: its size is unknown.
result<std::string> read_file_tail(const std::string& path, std::uint64_t bytes_max, std::uint64_t& size_bytes);

}  // namespace sluice::lib
