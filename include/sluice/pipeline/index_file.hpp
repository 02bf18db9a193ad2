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
// Errors: invalid_argument: the plan is not a reader of one file. unimplemented: its format has no index, or the file is
//         compressed or a stream. Those of the reader: a file whose elements cannot be found to its end has no index.
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
  std::uint64_t step = 1;        ///< the number of elements between two places
  std::uint64_t size_bytes = 0;  ///< of the index
  std::uint64_t file_bytes = 0;
};

struct index_options {
  /// The number of elements between two places. 0: chosen, so that a place leads 32 to 64 KiB before an element. A
  /// small number makes random access faster, and the index larger: 1 to 3 bytes for each place.
  std::uint64_t every = 0;
};

/// `reader`: a source that reads one file: tfrecord, lines, csv or jsonl.
task<written_index> write_index(runtime& rt, node_ptr reader, index_options o = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::index_options;
using lib::write_index;
using lib::written_index;

}  // namespace sluice
