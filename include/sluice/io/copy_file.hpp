// SPDX-License-Identifier: Apache-2.0
// Copies a file from any file system of a runtime to any other, as `sluice cp` does.
//
//   copied_file done = co_await copy_file(rt, "https://example.org/a.tfrecord", "data/a.tfrecord");
//
// Several ranges are read at once while the ranges before them are written. The copy gets its name when it is complete.
// Streams, and objects whose server does not report their size, are read in order.
// Errors: those of file_system::open and create, of file::read_at and file_writer, with their paths.
//         failed_precondition: a file of that name exists, and `overwrites` is false; or the source changed during the
//         copy. data_loss: the source became shorter; or, with `verifies`, the copy differs from what was written.
//         cancelled: `on_bytes` returned false.
// Cancel: as after an error, no new file exists.
// Deadlines: every call has runtime_options::io_timeout.
// Owns:   up to 2 * ranges * 4 MiB, which the ledger does not count.
// Thread: runs on the runtime's workers, which call on_bytes, one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sluice/base/file_info.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

struct copy_options {
  bool overwrites = false;
  bool verifies = false;  ///< reads the copy again, and compares
  unsigned ranges = 4;    ///< number of ranges read at once
  /// Called with the number of bytes written since the last call. Returns false to stop the copy.
  std::function<bool(std::uint64_t)> on_bytes = {};
};

struct copied_file {
  std::uint64_t bytes = 0;
  file_info info = {};  ///< of the copy
};

task<copied_file> copy_file(runtime& rt, std::string from, std::string to, copy_options o = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::copied_file;
using lib::copy_file;
using lib::copy_options;

}  // namespace sluice
