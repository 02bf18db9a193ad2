// SPDX-License-Identifier: Apache-2.0
// The names of an output's files.
//
//   shard_names names("out.tfrecord.gz", 4);       // out-00000-of-00004.tfrecord.gz …
//   shard_names own("{shard}/of-{shards}.csv", 4); // 00000/of-00004.csv …
// out-00000.csv …: the number of shards is unknown yet
//
// {shard} is the number from 0, and {shards} the number of shards, with five digits or more; {shard:03d} has three.
#pragma once

#include <cstdint>
#include <string>

#include "sluice/base/status.hpp"

namespace sluice::lib {

class shard_names {
 public:
  /// `shards`: the number of shards; 0: unknown. Errors: see check().
  shard_names(std::string path, std::uint64_t shards);

  /// Returns true if the path has a placeholder for a shard's number.
  static bool names_shards(const std::string& path);
  /// Errors: invalid_argument: the path has {shards}, but their number is unknown.
  status check() const;
  /// REQUIRES: check() was ok.
  std::string name(std::uint64_t shard) const;

 private:
  std::string pattern_;
  const std::uint64_t shards_;
};

}  // namespace sluice::lib
