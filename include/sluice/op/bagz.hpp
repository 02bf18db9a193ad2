// SPDX-License-Identifier: Apache-2.0
// bagz: the records of a Bagz file, or of all shards of a set.
//
//   bagz("train.bagz")                                                // dataset<record>
//   bagz("train@8.bagz")                                              // train-00000-of-00008.bagz … 00007
//   bagz("train-*-of-00008.bagz") | global_shuffle()                  // the matching files, as one sequence
//   list_files("part-*.bagz") | interleave(bagz)
//
// Shape:  record. In files named .bagz each record is a zstd frame; in files of other names it is stored as it is
//         (compression=none, compression=zstd). The number of records is known when the plan is built, unless a file
//         cannot be read then.
// Order:  as in the file; shards one after another, by name. (The library of Bagz calls this layout "concatenated".)
// Patterns: a path with *, ? or […] is all files that match when the plan is built; name@N.bagz and name@*.bagz are the
//         files name-00000-of-N.bagz …, all of which must exist. A file with that very name is no pattern.
// Errors: of the file: as in tfrecord. When the plan is built: not_found, and data_loss: a file of a pattern or of a set
//         of shards is missing or damaged. data_loss, with file, offset and record: the limits are damaged or do not fit
//         the file; a frame is damaged. Records that are stored as they are have no checksum: a changed byte in one
//         remains. failed_precondition: a file has another size or number of records than when the plan was built.
//         Under error_policy::skip a damaged record is dropped, and the records of a file that cannot be opened.
// State:  the number of the next record. A skip or a resume reads the limits of the wanted record and nothing before it;
//         at(i) and global_shuffle read two ranges for a record.
// Limits: a file ends with the end offsets of its records, 8 bytes each. With separate_limits they are in the file
//         limits.NAME beside it.
// Streams: not read: the limits are at the end of a file.
#pragma once

#include "sluice/element/slice.hpp"
#include "sluice/engine/file_source.hpp"
#include "sluice/engine/planned_records.hpp"

namespace sluice::lib {

extern const op_info bagz_op;

struct bagz_options {
  sluice::lib::compression compression =
      compression::automatic;                   ///< of each record: none, zstd; automatic: by the name
  bool separate_limits = false;                 ///< the limits are in limits.NAME
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< concurrent reads, if they must be waited for
  page_cache cache = page_cache::keep;          ///< whether the bytes read stay in the kernel's page cache
};
struct bagz_arguments {
  file_path path = {};
  bagz_options options = {};
  planned_records_ref planned = {};  ///< not an argument
};

inline constexpr file_source<record, bagz_arguments> bagz{bagz_op};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::bagz;
using lib::bagz_options;

}  // namespace sluice
