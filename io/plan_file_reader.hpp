// SPDX-License-Identifier: Apache-2.0
// Reads files through the reader that plan_files registers (sluice/io/plan_files.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sluice/base/result.hpp"

namespace sluice::lib::detail {

/// Returns the bytes of a remote file from `offset` on, at most `bytes_max`. Blocks.
result<std::string> read_for_plan(const std::string& path, std::size_t bytes_max, std::uint64_t offset = 0);
/// The last bytes of a file.
struct file_tail {
  std::string bytes{};
  std::uint64_t size_bytes = 0;  ///< of the file
  std::string version{};         ///< of a remote file (base/file_info.hpp); empty: unknown
};
/// Returns the number of last bytes that are needed, of which some may be read already.
using tail_need = std::function<std::uint64_t(const file_tail&)>;
/// Returns the last `bytes` bytes of a remote file, or all, and then as many as `need` returns, if it is given. Blocks.
/// Errors: also invalid_argument: its server states no size.
result<file_tail> read_tail_for_plan(const std::string& path, std::uint64_t bytes, const tail_need& need);
/// Returns the files, local or remote, that match a pattern, sorted. Blocks. Errors: also not_found: nothing matches.
result<std::vector<std::string>> list_for_plan(const std::string& pattern);
/// Returns true if the path is a pattern: it has wildcards, its file system lists files, and no file has that very
/// name. Blocks only for a path with wildcards.
bool is_pattern_for_plan(const std::string& path);

}  // namespace sluice::lib::detail
