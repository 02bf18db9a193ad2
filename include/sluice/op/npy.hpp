// SPDX-License-Identifier: Apache-2.0
// npy: the rows of an array that NumPy has saved, as tensors.
//
//   npy("images.npy") | batch(64)                              // an array of uint8[60000,28,28] gives tensors of uint8[28,28]
//   zip(npy("images.npy"), npy("labels.npy"))
//   list_files("part-*.npy") | interleave(npy)
//
// Shape:  tensor: a slice along the array's first dimension; the slices of a one-dimensional array have no dimensions.
//         The array has bool, int8 … int64, uint8 … uint64, float16, float32 or float64 items in either byte order, or
//         strings (S and U), whose trailing zeros are removed. datetime64 and timedelta64 become int64 that count the
//         unit of the array's dtype, since 1970 or as a duration; NaT is -9223372036854775808. An array in Fortran order
//         is read into memory as a whole, because its rows are spread over the file. Plain and compressed files, as in
//         tfrecord. decode_npy (sluice/format/npy.hpp) decodes an array in bytes, for example in an .npz file.
// Order:  as in the file.
// Ends:   after the number of rows in the header. Bytes after them are an error.
// Errors: those of the file, as in tfrecord. data_loss: the file is not a NumPy file, or is too short or long (it comes
//         after its whole rows). unimplemented: fields, objects, complex numbers. invalid_argument: the array has no
//         dimension, or its rows have no items. resource_exhausted: an array in Fortran order that exceeds the memory
//         budget. Under error_policy::skip the file is dropped.
// Owns:   tensors share the bytes that were read if these are aligned for the dtype; otherwise they are copies.
// State:  byte offset and index of the next row. A resume reads the header, then continues at that offset; a skip does
//         the same if the size of the file is known.
// Streams: as tfrecord.
#pragma once

#include "sluice/element/tensor.hpp"
#include "sluice/engine/file_source.hpp"

namespace sluice::lib {

extern const op_info npy_op;

struct npy_options {
  sluice::lib::compression compression = compression::automatic;
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< concurrent reads, if the bytes are not in memory already
  page_cache cache = page_cache::keep;          ///< whether the bytes read stay in the kernel's page cache
  size_limit inflated_bytes_max = {};           ///< limit of a compressed file's inflated size; 0: no limit
  ratio_limit inflate_ratio_max = {};           ///< limit as a multiple of the compressed bytes (beyond the first MiB)
};
struct npy_arguments {
  file_path path = {};  ///< "-": standard input
  npy_options options = {};
};

inline constexpr file_source<tensor, npy_arguments> npy{npy_op};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::npy;
using lib::npy_options;

}  // namespace sluice
