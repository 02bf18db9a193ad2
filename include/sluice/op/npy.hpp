// SPDX-License-Identifier: Apache-2.0
// npy: the rows of an array that NumPy has saved, as tensors.
//
//   npy("images.npy") | batch(64)                              // an array of uint8[60000,28,28] gives tensors of uint8[28,28]
//   zip(npy("images.npy"), npy("labels.npy"))
//   list_files("part-*.npy") | interleave(npy)
//
// Shape:  tensor: a slice along the array's first dimension; of an array of one dimension the tensors have none. bool, int8 …
//         int64, uint8 … uint64, float16, float32 and float64, of both byte orders; S and U as strings, without the zeros behind
//         them. Plain and compressed files, as in tfrecord.
// Order:  as in the file.
// Ends:   with the rows that the header says. What stands behind them is not looked at.
// Errors: of the file, as in tfrecord. data_loss: not a file of NumPy; it is cut short (after its whole rows). unimplemented: Fortran
//         order, of more than one dimension; fields, objects, complex numbers. invalid_argument: no dimension, rows without
//         elements. Under error_policy::skip the file is dropped.
// Owns:   tensors share the bytes that were read, where these are aligned for them; else they are copies.
// State:  byte offset and index of the next row. A resume reads the header, then goes there; so does passing over, where the
//         size of the file is known.
// Streams: as tfrecord.
#pragma once

#include "sluice/element/tensor.hpp"
#include "sluice/engine/file_source.hpp"

namespace sluice::lib {

extern const op_info npy_op;

struct npy_options {
  sluice::lib::compression compression = compression::automatic;
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< reads at the same time, if the bytes are not in memory already
  page_cache cache = page_cache::keep;          ///< of what the kernel has read
  size_limit inflated_bytes_max = {};           ///< of a compressed file: one byte more is an error; 0: any size
  ratio_limit inflate_ratio_max = {};  ///< the same, as a multiple of the compressed bytes (beyond the first MiB)
};
struct npy_arguments {
  file_path path = {};  ///< "-": standard input
  npy_options options = {};
};

inline constexpr file_source<tensor, npy_arguments> npy{npy_op};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::npy;
using lib::npy_options;

}  // namespace sluice
