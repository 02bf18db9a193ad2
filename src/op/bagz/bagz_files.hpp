// SPDX-License-Identifier: Apache-2.0
// The files that a path of bagz stands for, and their limits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/by_number/planned_records.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib {

inline constexpr std::uint64_t kBagzLimitBytes = 8;

/// "dir/limits.a.bagz" for "dir/a.bagz".
std::string bagz_limits_path(const std::string& path);
/// Returns true if the records of this file are zstd frames: as `c` says, or by the name.
bool bagz_is_packed(const std::string& path, compression c);

/// The place of the limits in the file that has them.
struct bagz_limits {
  std::uint64_t begin = 0;
  std::uint64_t records = 0;
};
/// `tail`: the last 8 bytes of the file that has the limits. `records_bytes`: the size of the file of the records.
/// Errors: data_loss: no Bagz file, or cut short.
result<bagz_limits> find_bagz_limits(std::string_view tail, std::uint64_t size_bytes, bool are_separate,
                                     std::uint64_t records_bytes);
/// The limit in 8 bytes.
std::uint64_t bagz_limit_at(const char* bytes);

/// Returns true if the path names several files: a pattern, or shards.
bool is_bagz_set(const std::string& path);
/// Returns true for name@N.bagz and name@*.bagz, also with the suffix .bag, unless a local file has this very name.
bool is_bagz_shard_set(const std::string& path);
/// Returns the files of a path, without looking whether those of name@N exist. Thread: blocks.
result<std::vector<std::string>> bagz_files(const std::string& path);
/// Finds the files of a path, and their records. Thread: blocks. Errors: those of the files.
result<planned_records> plan_bagz(const std::string& path, bool separate_limits);

}  // namespace sluice::lib
