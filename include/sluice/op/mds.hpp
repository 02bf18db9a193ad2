// SPDX-License-Identifier: Apache-2.0
// mds: the samples of a folder of MDS shards (MosaicML Streaming), as structures.
//
//   struct caption { std::string text; std::int64_t label; };
//   mds<caption>("data/train")                                         // members are found by the names of columns
//   mds<caption>("s3://bucket/train") | batch(64)
//
// In plan text the columns are those of index.json, mds("data/train"), or the named ones, mds("data/train",
// columns=["text"]); the structure is built at run time.
//
// Shape:  a structure with a member for each column. int, int8 … uint64, float32 and float64 are the same numbers; float16
//         is float. str and json are string, as are str_int, str_float and str_decimal, whose digits to_number() reads.
//         bytes, jpeg and png are bytes: decode_image(image) decodes them. ndarray is a tensor of up to 8 dimensions. The
//         number of samples is known when the plan is built.
// Order:  as in the index: shard by shard.
// Errors: when the plan is built: those of index.json; data_loss: it is no index of MDS; unimplemented: another version, a
//         column of the encoding pkl, whose decoding would run code of the file, or of another that is not read (pil, lists
//         of images); shards that are compressed by br or snappy. In the run: those of the shards, as in tfrecord. data_loss,
//         with shard, offset and sample: a shard has another size or number of samples than index.json states; the offsets
//         of its samples do not fit; a sample does not fit its columns; a compressed shard is damaged; the SHA-1 or XXH64
//         that the index states differs, if a shard is read from its first byte to its last. Under error_policy::skip a
//         damaged sample is dropped, or the samples of a shard that cannot be opened.
// State:  the number of the next sample. A skip or a resume reads nothing before it; at(i) and global_shuffle read two
//         ranges for a sample. A compressed shard is read and decompressed as a whole, unless it also exists without
//         compression, as the library of MDS leaves it in a local folder.
// Streams: not read.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "sluice/engine/column_choice.hpp"
#include "sluice/engine/planned_records.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info mds_op;

struct mds_options {
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< concurrent reads, if they must be waited for
  page_cache cache = page_cache::keep;          ///< whether the bytes read stay in the kernel's page cache
};
struct mds_arguments {
  planned_records_ref planned = {};  ///< not an argument
  file_path path = {};               ///< the folder that has index.json, or the path of that file
  mds_options options = {};
  column_choice built = {};
};

namespace detail {

/// The arguments that read the members of a structure of the program.
mds_arguments mds_of_row(std::string_view path, mds_options o, const element_type& row);

}  // namespace detail

/// Reads the samples of one folder.
template <class T> dataset<T> mds(std::string_view path, mds_options o = {}) {
  return dataset<T>(mds_op, arguments::of(detail::mds_of_row(path, o, type_of<T>())));
}
SLUICE_TYPED_OPTIONS_IN_BRACES(dataset<T>, mds, mds_options, "mds<T>(\"data/train\", {.read_bytes = 1 << 20})",
                               std::string_view)

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::mds;
using lib::mds_options;

}  // namespace sluice
