// SPDX-License-Identifier: Apache-2.0
// write: the elements of a dataset into files.
//
//   task<void> save(runtime& rt) {
//     write_report done = co_await write(rt, range(1000), "squares.jsonl");       // the name says the format
//     std::printf("%lld elements\n", static_cast<long long>(done.elements));
//     co_await write(rt, range(1000), "a.csv.gz");                                // compressed
//     co_await write(rt, range(1000), "b.tfrecord", {.format = output_format::example, .shards = 4});
//     co_await write(rt, range(1000), "c.npy", {.checkpoint = "c.ckpt", .checkpoint_elements = 100});
//   }
//
// Formats: sluice/output/output_format.hpp says what each takes. Structures are rows of CSV (a header, inner members by their
//         dotted paths), tf.Examples in TFRecords (parse_example reads them back), lines of JSON, rows of Arrow.
// Shards: `shards` files take turns, element by element: b-00000-of-00004.tfrecord …. With `shard_bytes` each ends with the
//         element by which it has so many bytes (before compression): b-00000.tfrecord …; more than one file is never
//         open. A path with {shard} in it (and {shards}) is the name itself.
// Whole:  a file is written as PATH.partial, synchronised, and takes its name when it is whole; what stood there until then can be
//         read. After an error, or when the task is destroyed, nothing new is there, but for shards that had their size, each
//         of which is whole. A pipe or a device is written to as it stands.
// Resume: with `checkpoint` the position, and how far the files reach, are written to that file so often and at the end;
//         where it is there already, the run goes on from it, and the files are cut back to that place and grow. So the
//         same call is made again after a crash, with the same plan; once it has returned, another one changes nothing.
//         Whatever ends the process, no element is missing or there twice (docs/resuming.md).
// Remote: a path with a scheme (mem://a.csv) is written through its file system, and is there when it is whole. Such a run has no
//         checkpoint, npy has no such outputs, and later shards of an earlier output are told instead of removed.
// Errors: thrown by the co_await: those of the plan and of iterate(); of the files, with the path; invalid_argument, before
//         anything is read: elements of this type have no form in the format (check_output says why), no format is
//         named, a stream cannot be sharded, npy cannot be compressed; failed_precondition: a checkpoint of another plan or
//         output, or files that are not as they were then; unavailable: another process writes the same file.
// Cancel: the files are given up as after an error; a checkpoint that was written stays of use.
// Thread: as iterate(): the plan runs on the runtime's workers; local files are written by its threads for blocking calls, and are
//         real in a simulation, too.
// See:    docs/internals/decisions/outputs.md: why this is no operator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/base/field_types.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/output/output_format.hpp"
#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib {

/// Texts are copied by write().
struct write_options {
  output_format format = output_format::automatic;        ///< by the path
  lib::compression compression = compression::automatic;  ///< by the path: .gz is gzip; zlib is not written
  count shards = 1;                                       ///< files that take turns
  byte_size shard_bytes = 0;                              ///< not 0: as many files as it takes when each is so long
  std::string_view checkpoint = {};                       ///< a file; empty: none
  std::int64_t checkpoint_elements = 0;                   ///< written after so many, besides at the end
  std::chrono::nanoseconds checkpoint_every{0};           ///< and so often
};

struct write_report {
  std::int64_t elements = 0;  ///< in the files, those of runs before a checkpoint as well
  std::int64_t files = 0;
  std::int64_t bytes = 0;   ///< written by this call, as they lie in the files
  std::int64_t errors = 0;  ///< bad elements that this call dropped
};

/// `run`: as for iterate(); its `from` is not used with a checkpoint.
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
