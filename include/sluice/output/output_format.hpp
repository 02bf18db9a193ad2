// SPDX-License-Identifier: Apache-2.0
// The formats in which elements are written, and the formats of file names.
//
//   format_of_path("a.csv.gz")            // {output_format::csv, compression::gzip}
//
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/base/field_types.hpp"
#include "sluice/base/result.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

enum class output_format : std::uint8_t {
  automatic,      ///< by the path; for .tfrecord by the elements: texts as records, others as tf.Examples
  jsonl,          ///< a line of JSON for each element, as print() (element/type.hpp) writes it
  csv,            ///< RFC 4180: a header, and a line for each element; of numbers, bools, texts and optionals of these
  raw,            ///< the bytes of texts, consecutively, without separators
  text_lines,     ///< texts without line ends, one per line, as lines() reads them
  tfrecords,      ///< texts (records, lines, strings) as records
  example,        ///< structures as tf.Examples, in TFRecords: a feature for each member
  arrow,          ///< an Arrow IPC stream (docs/arrow_ipc.md)
  arrow_binary,   ///< the same, with all texts as binary, even C++ strings
  parquet,        ///< a Parquet file: a column for each member; needs a library (sluice/io/arrow_parquet.hpp)
  numpy,          ///< one array of NumPy: numbers, arrays and tensors of one shape; the first dimension is the elements
  bagz_records,   ///< texts as the records of a Bagz file; in a file named .bagz each is a zstd frame
  array_records,  ///< texts as the records of an ArrayRecord file, in chunks of one record each
  mds_folder,     ///< structures as the samples of MDS shards, in a folder with an index.json
};

/// "jsonl", "arrow-binary" …
std::string_view to_string(output_format f);
/// Errors: invalid_argument, with the list of formats.
result<output_format> parse_output_format(std::string_view name);

struct named_format {
  output_format format = output_format::automatic;  ///< automatic: the name does not determine it
  lib::compression compression = lib::compression::none;
};
/// By the last parts of the name: .tfrecord(s), .jsonl, .ndjson, .json, .csv, .arrow(s), .parquet,
/// .npy, .txt (lines), .bagz, .bag, .array_record, then .gz or .zst.
named_format format_of_path(std::string_view path);

/// Returns true if this compression, asked for by the user, is that of each buffer of Arrow's record batches, as pyarrow
/// and Feather have it, or of the pages of Parquet or the records of Bagz and ArrayRecord, and not that of the file as a whole.
bool compresses_buffers(output_format f, compression c);
/// The compression of buffers, pages or records in the file of this name, if the user asked for `given`. The name of a
/// Bagz file decides whether its readers expect frames.
compression buffers_of_path(output_format f, std::string_view path, compression given);

/// Checks that elements of this type have a form in this format. Errors: invalid_argument, with the reason and a
/// remedy.
status check_output(output_format f, const element_type& type);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::output_format;

}  // namespace sluice
