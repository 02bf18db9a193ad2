// SPDX-License-Identifier: Apache-2.0
// Writes folders of MDS (MosaicML Streaming): shards, and the index.json that lists them.
//
// Format. A shard is the number of samples, the offset of each and of the end (all of 4 bytes), and the samples. A sample is
//   the sizes of its values that have no fixed size (of 4 bytes), and its values, in the order of the columns.
// Thread: one caller of an encoder; the functions block.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "output/encoders/element_encoder.hpp"
#include "sluice/base/result.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

/// The size of a shard, if the user sets none: that of the library of MDS.
inline constexpr std::uint64_t kMdsShardBytes = std::uint64_t{1} << 26;
inline constexpr const char* kMdsIndexName = "index.json";

/// Encodes one shard, whose samples are gathered until its end. Errors: invalid_argument: the elements are no structures of
/// numbers, texts, bytes and tensors; names the member. Errors of append(): invalid_argument: a value has no form in MDS;
/// the shard would have more than 4 GiB.
result<std::unique_ptr<element_encoder>> make_mds_encoder(const element_type& type);

struct written_shard {
  std::string name;
  std::string digest;  ///< of its bytes (element_encoder::digest); empty: another run has written it, and it is read
};

/// Writes the index of the shards in a folder, in this order, with their XXH64. Errors: those of reading the shards and
/// of writing. REQUIRES: make_mds_encoder() accepts the type.
status write_mds_index(const std::string& folder, const element_type& type, const std::vector<written_shard>& shards,
                       std::uint64_t shard_bytes);

}  // namespace sluice::lib
