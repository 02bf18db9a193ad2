// SPDX-License-Identifier: Apache-2.0
// Sample data: TFRecord shards of tf.Examples. The same seed yields the same bytes on every machine.
//
//   struct example { text: 40–60 hexadecimal digits; label: int64, 0 … 999; values: 16 floats in [0, 1) }
//
// About 160 bytes per record on disk. Record i of a sample is a function of (seed, i); shards contain runs of equal
// length.
// Thread: pure functions; shards can be written in parallel.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sluice/base/status.hpp"
#include "sluice/format/example.hpp"

namespace sluice::lib {

/// The struct to which a record of the sample is parsed.
struct sample_example {
  std::string text;
  std::int64_t label = 0;
  std::array<float, 16> values{};
};

struct sample_options {
  std::uint64_t records = 2'000'000;
  std::uint32_t shards = 16;
  std::uint64_t seed = 7;
};

/// Record `index` of the sample.
sample_example make_sample_example(std::uint64_t seed, std::uint64_t index);

/// "sample-00003-of-00016.tfrecord"
std::string sample_shard_name(const sample_options& options, std::uint32_t shard);

/// Writes one shard to `path` and blocks. The file appears complete or not at all (it is renamed into place). Errors:
/// those of the file system, with the file's name.
status write_sample_shard(const std::string& path, const sample_options& options, std::uint32_t shard);

/// Returns true if `path` contains that shard. Compares the first and the last record, which no other seed, number of
/// records or number of shards has at these places. So nothing needs to be stored beside the shards.
bool is_sample_shard(const std::string& path, const sample_options& options, std::uint32_t shard);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::make_sample_example;
using lib::sample_example;
using lib::sample_options;
using lib::sample_shard_name;
using lib::write_sample_shard;

}  // namespace sluice
