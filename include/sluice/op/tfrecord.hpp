// SPDX-License-Identifier: Apache-2.0
// tfrecord: the records of a TFRecord file.
//
//   tfrecord("train-00.tfrecord")                                     // dataset<record>
//   tfrecord("train-*.tfrecord")                                      // the matching files, one after another
//   list_files("train-*.tfrecord") | interleave(tfrecord, {.cycle_length = 16})
//
// Shape:  record: a view into the file's buffer. Plain and compressed files; `automatic` recognizes gzip, zlib, zstd,
//         lz4, snappy, bzip2 and xz by their first bytes and names (format/inflate.hpp).
// Order:  as in the file. The end of the file is its end when it was opened: bytes appended later are not read.
// Patterns: a path with *, ? or […], as in list_files, is read as list_files(path) | flat_map(tfrecord), unless a file
//         has that very name. The other readers of files do the same.
// Streams: "-" is standard input, which can be read once; a FIFO, or a name made by <(command), is read until its
//          writers close it. A run that reads one of these has no checkpoints: position() throws failed_precondition.
// Errors: of the file: not_found, permission_denied, invalid_argument (a directory, a device), data_loss if it is
//         truncated while it is read, or if its name ends in the suffix of a compression and its bytes are not
//         compressed, unless compression=none. failed_precondition after a resume, if the file is not the one that the
//         checkpoint was made with (iterate_options::on_changed_inputs). data_loss, with file, byte offset and record:
//         a wrong CRC of length or data, a truncated header or record, an impossible length. Under error_policy::skip
//         the damaged record is dropped, and reading continues after its length. If the length itself is damaged,
//         reading continues at the next header whose CRC is right (after_damage), and the error says how many bytes
//         were lost.
// State:  byte offset and index of the next record. Skipping reads only headers; under error_policy::skip it reads
//         whole records, because damaged records are not elements. With an index of the file (`sluice index`) it reads
//         nothing up to the place before the wanted record. index=required: the number of records is known before the
//         run, and at(i) and global_shuffle work.
// See:    format/tfrecord_frames.hpp
#pragma once

#include "sluice/base/index_types.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/engine/file_source.hpp"

namespace sluice::lib {

extern const op_info tfrecord_op;

struct tfrecord_options {
  sluice::lib::compression compression = compression::automatic;
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< concurrent reads, if the bytes are not in memory already
  page_cache cache = page_cache::keep;          ///< whether the bytes read stay in the kernel's page cache
  size_limit inflated_bytes_max = {};           ///< limit of a compressed file's inflated size; 0: no limit
  ratio_limit inflate_ratio_max = {};           ///< limit as a multiple of the compressed bytes (beyond the first MiB)
  lib::after_damage after_damage = lib::after_damage::search;  ///< what to do under error_policy::skip after a damaged
                                                               ///< length
  /// The use of the file's index, by which a skip finds its element without reading those before (`sluice index FILE`).
  file_index index = file_index::automatic;
};
struct tfrecord_arguments {
  file_path path = {};  ///< "-": standard input
  tfrecord_options options = {};
};

inline constexpr file_source<record, tfrecord_arguments> tfrecord{tfrecord_op};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::tfrecord;
using lib::tfrecord_options;

}  // namespace sluice
