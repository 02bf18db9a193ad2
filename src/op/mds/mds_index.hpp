// SPDX-License-Identifier: Apache-2.0
// The index.json of an MDS folder: its columns and shards.
//
// Errors: data_loss: no index of MDS, or damaged. unimplemented: another version or format; a column's encoding that is
//         not read; a compression that this build lacks. All with the path.
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/codec/whole_codecs.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/base/result.hpp"
#include "sluice/element/tensor.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

struct mds_column {
  enum kind_type : std::uint8_t { number, half, utf8, binary, array } kind = binary;
  std::string name;
  const element_type* type = nullptr;   ///< of the member
  std::uint32_t bytes = 0;              ///< of each value; 0: stated in each sample
  dtype values = dtype::uint8;          ///< array: of its values
  bool has_dtype = false;               ///< array: all have `values`
  std::optional<tensor_shape> shape{};  ///< array: of all
};

/// The digest of a file as the index states it.
struct mds_hash {
  std::string name;   ///< an algorithm of format/codec/file_digests.hpp; empty: none of the stated digests is known
  std::string value;  ///< hexadecimal, in lower case
};

struct mds_shard {
  std::string raw_name, zip_name;  ///< empty: no such file
  std::uint64_t raw_bytes = 0, zip_bytes = 0;
  compression packed = compression::none;  ///< of the file zip_name
  whole_codec whole = whole_codec::none;   ///< in place of `packed`: the file is decompressed in one call
  std::uint64_t samples = 0;
  mds_hash raw_hash{}, zip_hash{};
  std::string unknown_hashes{};  ///< the names of digests that are stated for a file that has no known one
};

struct mds_index {
  std::vector<mds_column> columns;  ///< in the order of the samples' bytes
  std::vector<mds_shard> shards;
  const element_type* row = nullptr;
};

result<mds_index> parse_mds_index(std::string_view json);

}  // namespace sluice::lib
