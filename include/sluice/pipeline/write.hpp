// SPDX-License-Identifier: Apache-2.0
// write: writes the elements of a dataset into files.
//
//   task<void> save(runtime& rt) {
//     write_report done = co_await write(rt, range(1000), "squares.jsonl");       // the name determines the format
//     std::printf("%lld elements\n", static_cast<long long>(done.elements));
//     co_await write(rt, range(1000), "a.csv.gz");                                // compressed
//     co_await write(rt, range(1000), "b.tfrecord", {.format = output_format::example, .shards = 4});
//     co_await write(rt, range(1000), "c.npy", {.checkpoint = "c.ckpt", .checkpoint_elements = 100});
//   }
//
// Formats: sluice/output/output_format.hpp lists the elements of each. Structures are rows of CSV (a header, inner
//          members by their dotted paths), tf.Examples in TFRecords (parse_example reads them back), lines of JSON,
//          rows of Arrow and of Parquet.
// Shards: elements are assigned alternately to `shards` files: b-00000-of-00004.tfrecord …. With `shard_bytes` each
//         file ends with the element that makes it this long (before compression): b-00000.tfrecord …; only one file is
//         open at a time. A path that contains {shard} (and {shards}) is used as the name itself.
// Whole:  a file is written as PATH.partial, synchronized, and renamed when it is complete; until then the previous
//         file of that name can be read. After an error, or when the task is destroyed, no new file exists, except for
//         complete shards that had reached their size. A pipe or a device is written directly.
// Resume: with `checkpoint` the position and the lengths of the files are written to that file at the set intervals and
//         at the end. If that file exists already, the run continues from it: the output files are truncated to that
//         position and continued. So after a crash make the same call again, with the same plan. After a call that
//         returned, the same call changes nothing. However the process ends, no element is missing or duplicated
//         (docs/resuming.md).
// Remote: a path with a scheme (mem://a.csv) is written through its file system, and exists when it is complete. An output
//         of one object has no checkpoint; several objects (shard_bytes) have one. npy does not support such outputs, and
//         higher-numbered shards of an earlier output are reported instead of removed.
// Errors: thrown by the co_await: those of the plan and of iterate(); those of the files, with the path;
//         invalid_argument, before anything is read: elements of this type have no form in the format (check_output
//         returns the reason), no format is named, a stream cannot be sharded, npy cannot be compressed;
//         failed_precondition: a checkpoint of another plan or output, or files that have changed since; unavailable:
//         another process writes the same file.
// Cancel: the files are abandoned as after an error; a checkpoint that was written stays usable.
// Thread: the same as for iterate(): the plan runs on the runtime's workers. Its threads for blocking calls write local
//         files, which are real even in a simulation.
// See:    docs/internals/decisions/outputs.md: why this is not an operator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/base/field_types.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/output/output_format.hpp"
#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib {

/// write() copies the texts.
struct write_options {
  output_format format = output_format::automatic;        ///< by the path
  lib::compression compression = compression::automatic;  ///< by the path: .gz is gzip, .zst is zstd. In Arrow, lz4
                                                          ///< and zstd are of its buffers; in Parquet, none, snappy,
                                                          ///< gzip, lz4 and zstd of its pages, by default zstd. Others
                                                          ///< are not written
  count shards = 1;                                       ///< number of files to which elements are assigned
                                                          ///< alternately
  byte_size shard_bytes = 0;                              ///< if not 0: starts a new file after this size
  byte_size row_group_bytes = 0;                          ///< Parquet: the size of the values in a row group; 0: 64 MiB
  std::string_view checkpoint = {};                       ///< a file; empty: no checkpoint
  std::int64_t checkpoint_elements = 0;                   ///< written after this number of elements, and at the end
  std::chrono::nanoseconds checkpoint_every{0};           ///< and at this interval
};

struct write_report {
  std::int64_t elements = 0;  ///< in the files, including those of runs before a checkpoint
  std::int64_t files = 0;
  std::int64_t bytes = 0;   ///< written by this call, as stored in the files
  std::int64_t errors = 0;  ///< bad elements that this call dropped
};

/// `run`: the options of iterate(); its `from` is not used with a checkpoint.
task<write_report> write(runtime& rt, const node_ptr& plan, std::string path, const write_options& o = {},
                         const iterate_options& run = {});
template <class T>
task<write_report> write(runtime& rt, const dataset<T>& ds, std::string path, const write_options& o = {}) {
  return write(rt, ds.plan(), std::move(path), o);
}
template <class T>
task<write_report> write(runtime& rt, const dataset<T>& ds, std::string path, const write_options& o,
                         const iterate_options& run) {
  return write(rt, ds.plan(), std::move(path), o, run);
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::write;
using lib::write_options;
using lib::write_report;

}  // namespace sluice
