// SPDX-License-Identifier: Apache-2.0
// array_record: the records of an ArrayRecord file.
//
//   array_record("train-00000-of-00008.array_record")                 // dataset<record>
//   array_record("train-*.array_record") | global_shuffle()           // the matching files, as one sequence
//   list_files("train-*.array_record") | interleave(array_record)
//
// Shape:  record. Chunks may be stored, or compressed by zstd, snappy or brotli. The number of records is known when the
//         plan is built, unless a file cannot be read then.
// Order:  as in the file; files of a pattern one after another, by name.
// Patterns: a path with *, ? or […] is all files that match when the plan is built. A file with that very name is no
//         pattern.
// Errors: of the file: as in tfrecord. When the plan is built: not_found, and data_loss: a file of a pattern is missing or
//         damaged. data_loss, with file, offset and record: a wrong hash; lengths that do not fit; no footer: the file was cut
//         short, or is another file of Riegeli. unimplemented: transposed chunks, which Riegeli does not document; brotli
//         or snappy, if this build lacks them. failed_precondition: a file has another size or number of records than when
//         the plan was built. Under error_policy::skip the records of a damaged chunk are dropped, and those of a file
//         that cannot be opened.
// State:  the number of the next record. A skip or a resume reads the chunk of the wanted record and nothing before it, so
//         at(i) and global_shuffle are fast in files that were written with group_size:1.
// Thread: chunks of a megabyte or more are decoded on threads for blocking calls.
// Streams: not read: the footer is at the end of a file.
#pragma once

#include "sluice/element/slice.hpp"
#include "sluice/engine/file_source.hpp"
#include "sluice/engine/planned_records.hpp"

namespace sluice::lib {

extern const op_info array_record_op;

struct array_record_options {
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< concurrent reads, if they must be waited for
  page_cache cache = page_cache::keep;          ///< whether the bytes read stay in the kernel's page cache
};
struct array_record_arguments {
  file_path path = {};
  array_record_options options = {};
  planned_records_ref planned = {};  ///< not an argument
};

inline constexpr file_source<record, array_record_arguments> array_record{array_record_op};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::array_record;
using lib::array_record_options;

}  // namespace sluice
