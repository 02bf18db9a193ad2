// SPDX-License-Identifier: Apache-2.0
// Reads the last bytes of a file, local or remote. Formats with a footer are examined by it when a plan is built.
//
//   auto tail = read_file_tail("a.bagz", 8);
//   auto tail = read_file_tail("a.parquet", 65'536, [](const file_tail& t) { return footer_bytes(t.bytes); });
//
// Thread: blocks. It is called while a plan is built, never in a run.
#pragma once

#include <cstdint>
#include <string>

#include "io/plan_file_reader.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib {

using detail::file_tail;
using detail::tail_need;

/// Returns the last `bytes` bytes of the file, or all if it has fewer, and then as many as `need` returns, if it is given:
/// of a remote file, only those that are missing are read. Errors: the file's, with its name; invalid_argument: its size
/// is unknown.
result<file_tail> read_file_tail(const std::string& path, std::uint64_t bytes, const tail_need& need = {});

}  // namespace sluice::lib
