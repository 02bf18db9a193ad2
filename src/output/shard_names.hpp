// SPDX-License-Identifier: Apache-2.0
// The names of an output's files.
//
//   shard_names names("out.tfrecord.gz", 4);       // out-00000-of-00004.tfrecord.gz …
//   shard_names own("{shard}/of-{shards}.csv", 4); // 00000/of-00004.csv …
//   shard_names grows("out.csv", 0);               // out-00000.csv …: nobody knows yet how many there will be
//
// {shard} is the number from 0, {shards} how many there are, of five digits or more; {shard:03d} of three.
#pragma once

#include <cstdint>
#include <string>

#include "sluice/base/status.hpp"

namespace sluice::lib {

class shard_names {
 public:
  /// `shards`: 0: unknown. Errors: see check().
  shard_names(std::string path, std::uint64_t shards);

  /// Has the path a place for a shard's number?
  static bool names_shards(const std::string& path);
  /// Errors: invalid_argument: {shards} where their number is unknown.
  status check() const;
  /// REQUIRES: check() was ok.
  std::string name(std::uint64_t shard) const;

 private:
  std::string pattern_;
  const std::uint64_t shards_;
};

}  // namespace sluice::lib
