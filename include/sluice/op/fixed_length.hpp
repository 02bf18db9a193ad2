// SPDX-License-Identifier: Apache-2.0
// fixed_length: records of n bytes each.
//
//   fixed_length("cifar.bin", {.record_bytes = 3073})
//
// Shape:  record: a view into the file's buffer. Files and streams as tfrecord reads them.
// Order:  as in the file, between a header and a footer of given sizes.
// Errors: of the file, as tfrecord's; invalid_argument when what lies between header and footer is no whole number of
//         records: before the first record, or at the end of a compressed file or a stream, whose size is not known before.
// State:  byte offset and index of the next record; passing over is arithmetic where the size is known.
#pragma once

#include "sluice/element/slice.hpp"
#include "sluice/op/file_source.hpp"

namespace sluice::lib {

extern const op_info fixed_length_op;

struct fixed_length_options {
  count record_bytes = {};
  byte_size header_bytes = {};  ///< passed over at the start
  byte_size footer_bytes = {};  ///< passed over at the end
  sluice::lib::compression compression = compression::automatic;
  byte_size read_bytes = 256 << 10;  ///< asked of the file at once
  knob reads_in_flight = autotune;   ///< so many such reads, where the bytes have to be waited for
};
struct fixed_length_arguments {
  file_path path = {};  ///< "-": standard input
  fixed_length_options options = {};
};

inline constexpr file_source<record, fixed_length_arguments> fixed_length{fixed_length_op};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::fixed_length;
using lib::fixed_length_options;

}  // namespace sluice
