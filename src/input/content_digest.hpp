// SPDX-License-Identifier: Apache-2.0
// A digest of the first `size` bytes of a file: of their beginning, their end, and the size.
//
//   auto digesting = digest_content(opened, size, deadline);
//   const std::uint64_t digest = co_await digesting;
//
// Two files with equal digests have the same size, and the same bytes in the first and the last 64 KiB. Bytes between
// them are not read. Of a file that has become shorter, the bytes that remain are digested.
// State:  part of checkpoints (runtime/input_state.hpp).
// Cost:   two reads of at most 64 KiB.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/input_state.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/io/file_system.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

inline constexpr std::size_t kDigestedBytes = std::size_t{64} << 10;  ///< at each end

/// REQUIRES: the file can be read at any offset.
task<std::uint64_t> digest_content(std::shared_ptr<file> from, std::uint64_t size, time_point deadline);

/// Returns the identity of an open file. If the run compares contents, it has the digests that run.inputs requests; it has
/// none if the file has no size, or is read in order only.
task<input_identity> identify_file(std::shared_ptr<run_context> run, std::shared_ptr<file> from);

/// Does what digest_content() does for a local file, on a thread that may wait. Returns 0 if the file cannot be read.
std::uint64_t digest_local_content(const char* path, std::uint64_t size);

}  // namespace sluice::lib
