// SPDX-License-Identifier: Apache-2.0
// Builds the index of a file, so that readers skip elements without reading them.
//
//   auto records = tfrecord("train.tfrecord");
//   auto indexing = write_index(rt, records.plan());
//   written_index w = co_await indexing;                       // train.tfrecord.sluice-index
//   auto shuffled = tfrecord("train.tfrecord", {.index = file_index::required}) | global_shuffle();
//
// The whole file is read once, as `sluice count` does. The index appears under its name when it is complete, on every
// file system that can write; an existing one is replaced.
// The index of a compressed file also has the places from which it can be inflated (format/seek_points.hpp), and 32 KiB of
// its bytes for each place within a member of gzip.
// Errors: invalid_argument: the plan is not a reader of one file. unimplemented: its format has no index, or the file is
//         a stream. Those of the reader: a file whose elements cannot be found to its end has no index.
//         unavailable: the file was written to in the meantime.
// Cancel: nothing is left behind.
// See:    format/record_index.hpp, `sluice index`
#pragma once

#include <cstdint>
#include <string>

#include "sluice/coro/task.hpp"
#include "sluice/plan/node.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

struct written_index {
  std::string path;
  std::uint64_t elements = 0;
  std::size_t places = 0;        ///< of elements, besides that of the first one
  std::uint64_t size_bytes = 0;  ///< of the index
  std::uint64_t file_bytes = 0;
  std::uint64_t plain_bytes = 0;  ///< of a compressed file; of others 0
  std::size_t seek_points = 0;    ///< of a compressed file; 0: it can only be inflated from its start
};

struct index_options {
  /// The number of elements between two places. 0: chosen, so that a place leads up to 32 KiB before an element. A
  /// small number makes random access faster, and the index larger: 2 to 4 bytes for each place.
  std::uint64_t every = 0;
};

/// `reader`: a source that reads one file: tfrecord, lines, csv, jsonl, tar, webdataset or fixed_length.
task<written_index> write_index(runtime& rt, node_ptr reader, index_options o = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::index_options;
using lib::write_index;
using lib::written_index;

}  // namespace sluice
