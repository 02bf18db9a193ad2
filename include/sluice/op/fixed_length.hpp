// SPDX-License-Identifier: Apache-2.0
// fixed_length: records of a fixed number of bytes.
//
//   fixed_length("cifar.bin", {.record_bytes = 3073})
//
// Shape:  record: a view into the file's buffer. Plain and compressed files and byte streams, as in tfrecord.
// Order:  as in the file, between a header and a footer of given sizes.
// Errors: those of the file, as in tfrecord. invalid_argument: the bytes between header and footer are not a whole
//         number of records. This error comes before the first record, or at the end if the size is not known before (a
//         compressed file, a byte stream).
// State:  byte offset and index of the next record. If the size of the file is known, skipping computes the offset and
//         reads nothing. In a compressed file an index (`sluice index`) does the same. index=required: as in tfrecord.
#pragma once

#include "sluice/base/index_types.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/engine/file_source.hpp"

namespace sluice::lib {

extern const op_info fixed_length_op;

struct fixed_length_options {
  count record_bytes = {};
  byte_size header_bytes = {};  ///< ignored at the start of the file
  byte_size footer_bytes = {};  ///< ignored at the end of the file
  sluice::lib::compression compression = compression::automatic;
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< concurrent reads, if the bytes are not in memory already
  page_cache cache = page_cache::keep;          ///< whether the bytes read stay in the kernel's page cache
  size_limit inflated_bytes_max = {};           ///< limit of a compressed file's inflated size; 0: no limit
  ratio_limit inflate_ratio_max = {};           ///< limit as a multiple of the compressed bytes (beyond the first MiB)
  /// The use of the file's index, by which a skip finds its element without reading those before (`sluice index FILE`).
  file_index index = file_index::automatic;
};
struct fixed_length_arguments {
  file_path path = {};  ///< "-": standard input
  fixed_length_options options = {};
};

inline constexpr file_source<record, fixed_length_arguments> fixed_length{fixed_length_op};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::fixed_length;
using lib::fixed_length_options;

}  // namespace sluice
