// SPDX-License-Identifier: Apache-2.0
// Reads files through the reader that plan_files registers (sluice/io/plan_files.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sluice/base/result.hpp"

namespace sluice::lib::detail {

/// Returns the bytes of a remote file from `offset` on, at most `bytes_max`. Blocks.
result<std::string> read_for_plan(const std::string& path, std::size_t bytes_max, std::uint64_t offset = 0);
/// Returns the last bytes of a remote file, at most `bytes_max`, and its size. Blocks. Errors: also invalid_argument: its
/// server states no size.
result<std::string> read_tail_for_plan(const std::string& path, std::size_t bytes_max, std::uint64_t& size_bytes);
/// Returns the files, local or remote, that match a pattern, sorted. Blocks. Errors: also not_found: nothing matches.
result<std::vector<std::string>> list_for_plan(const std::string& pattern);
/// Returns true if the path is a pattern: it has wildcards, its file system lists files, and no file has that very
/// name. Blocks only for a path with wildcards.
bool is_pattern_for_plan(const std::string& path);

}  // namespace sluice::lib::detail
