// SPDX-License-Identifier: Apache-2.0
// from_arrow: the batches of an Arrow IPC stream or file.
//
//   from_arrow<sample>("samples.arrow")                                    // dataset<batched<sample>>
//   list_files("part-*.arrow") | interleave(from_arrow<sample>())
//
// In plan text the columns are those of the file, from_arrow("samples.arrow"), or the named ones,
// from_arrow("samples.arrow", schema="text: string, label: int64?, values: float[16]"); the structure is built at run
// time.
//
// Shape:  batched<T>: a batch for each record batch of the file. Members are found by their names; other columns are
//         skipped. docs/arrow.md lists the Arrow type of each C++ type. Both IPC formats are read, stream and file
//         (also called Feather 2), with buffers compressed by lz4 or zstd, and also if the whole stream is compressed,
//         as in tfrecord. Dictionaries and runs are read as their values, dates and times as numbers whose type has
//         their unit. Not read: decimals, intervals, unions, big-endian.
// Order:  as in the file.
// Ends:   with the stream's end marker, or with the file. Bytes after the end marker, but for a directory, are an
//         error.
// Errors: those of the file, as in tfrecord. data_loss, with file, byte offset and number of the batch: the batch
//         violates the format or is cut short. unimplemented: a feature that is not read (Shape). invalid_argument,
//         with the column: its type is not the member's, it is missing, or it has a null although the member is not an
//         optional. resource_exhausted, an error of the element (status::is_element_limit): a batch decompresses, or its
//         dictionaries expand, to more than the memory budget. Under error_policy::skip a damaged batch is dropped, and reading continues after it if its length
//         is known. Otherwise, and if the schema does not fit, the rest of the file is dropped.
// State:  byte offset and index of the next batch. A resume reads the schema and the dictionaries before that offset,
//         then continues there. Skipping reads only the metadata of batches, or whole batches if the size of the file
//         is not known.
// Streams: as tfrecord, if the schema is given.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "sluice/element/batched.hpp"
#include "sluice/engine/arrow_schema.hpp"
#include "sluice/engine/column_choice.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info from_arrow_op;

struct arrow_file_options {
  arrow_schema_arg schema = {};  ///< the columns and their types; "": all columns of the file
  sluice::lib::compression compression = compression::automatic;
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< concurrent reads, if the bytes are not in memory already
  page_cache cache = page_cache::keep;          ///< whether the bytes read stay in the kernel's page cache
  size_limit inflated_bytes_max = {};           ///< limit of a compressed file's inflated size; 0: no limit
  ratio_limit inflate_ratio_max = {};           ///< limit as a multiple of the compressed bytes (beyond the first MiB)
};
struct from_arrow_arguments {
  file_path path = {};  ///< "-": standard input
  arrow_file_options options = {};
  column_choice built = {};
};

/// Reads the batches of one file.
template <class T> dataset<batched<T>> from_arrow(std::string_view path, arrow_file_options o = {}) {
  static_assert(stackable<T>, "sluice: rows of this element cannot be stacked");
  o.schema = arrow_schema_arg(type_of<T>(), "from_arrow");
  return dataset<batched<T>>(from_arrow_op, arguments::of(from_arrow_arguments{std::string(path), o}));
}
/// Returns a reader for interleave and flat_map.
template <class T> file_reader<batched<T>> from_arrow(arrow_file_options o = {}) {
  static_assert(stackable<T>, "sluice: rows of this element cannot be stacked");
  o.schema = arrow_schema_arg(type_of<T>(), "from_arrow");
  return file_reader<batched<T>>(make_source(from_arrow_op, arguments::of(from_arrow_arguments{{}, o})));
}
SLUICE_TYPED_OPTIONS_IN_BRACES(dataset<batched<T>>, from_arrow, arrow_file_options,
                               "from_arrow<T>(\"a.arrow\", {.read_bytes = 1 << 20})", std::string_view)

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::arrow_file_options;
using lib::from_arrow;

}  // namespace sluice
