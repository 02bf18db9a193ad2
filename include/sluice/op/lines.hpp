// SPDX-License-Identifier: Apache-2.0
// lines: the lines of a text file.
//
//   lines("a.txt") | map([](const line& l) { return std::string(l.view()); })
//
// Shape:  line: a view into the file's buffer, without its line end. Plain and compressed files and byte streams, as in
//         tfrecord.
// Order:  as in the file. Empty lines are elements. A last line without a line end is an element, unless it consists of
//         \r alone.
// Errors: those of the file, as in tfrecord. resource_exhausted: a line is longer than 1 GiB. data_loss: a checkpoint's
//         byte offset is not the beginning of a line. This check prevents that a part of a line is delivered as a line.
// State:  byte offset and index of the next line.
// See:    format/lines_scan.hpp
#pragma once

#include "sluice/base/index_types.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/engine/file_source.hpp"

namespace sluice::lib {

extern const op_info lines_op;

struct lines_options {
  sluice::lib::compression compression = compression::automatic;
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< concurrent reads, if the bytes are not in memory already
  page_cache cache = page_cache::keep;          ///< whether the bytes read stay in the kernel's page cache
  size_limit inflated_bytes_max = {};           ///< limit of a compressed file's inflated size; 0: no limit
  ratio_limit inflate_ratio_max = {};           ///< limit as a multiple of the compressed bytes (beyond the first MiB)
  /// The use of the file's index, by which a skip finds its element without reading those before (`sluice index FILE`).
  file_index index = file_index::automatic;
};
struct lines_arguments {
  file_path path = {};  ///< "-": standard input
  lines_options options = {};
};

inline constexpr file_source<line, lines_arguments> lines{lines_op};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::lines;
using lib::lines_options;

}  // namespace sluice
