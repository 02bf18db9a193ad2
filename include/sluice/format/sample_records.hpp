// SPDX-License-Identifier: Apache-2.0
// A sample to try things on: TFRecord shards of tf.Examples, the same bytes for the same seed on every machine.
//
//   struct example { text: 40–60 hexadecimal digits; label: int64, 0 … 999; values: 16 floats in [0, 1) }
//
// About 160 bytes a record on disk. Record i of a sample is a function of (seed, i); shards hold runs of equal length.
// Thread: pure functions; shards can be written in parallel.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sluice/base/status.hpp"
#include "sluice/format/example.hpp"

namespace sluice::lib {

/// What a record of the sample parses to.
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

/// Writes one shard to `path`, complete or not at all (it is renamed into place); blocks.
/// Errors: those of the file system, naming the file.
status write_sample_shard(const std::string& path, const sample_options& options, std::uint32_t shard);

/// Is that what stands at `path`? Told by its first and its last record, which no other seed, number of records or
/// shards has at these places, so that nothing has to be written down beside the shards.
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
