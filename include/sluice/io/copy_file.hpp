// SPDX-License-Identifier: Apache-2.0
// Copies a file from any file system of a runtime to any other: what `sluice cp` does.
//
//   copied_file done = co_await copy_file(rt, "https://example.org/a.tfrecord", "data/a.tfrecord");
//
// Several ranges are read at once while those before them are written, and what is written takes its name when it is whole.
// Streams, and objects whose server does not tell their size, are read in order.
// Errors: those of file_system::open and create, of file::read_at and file_writer, with their paths.
//         failed_precondition: there is a file of that name, and `overwrites` does not say that it may go; what is copied
//         changed meanwhile. data_loss: it became shorter; or, with `verifies`, what can be read back is not what was
//         written. cancelled: `on_bytes` returned false.
// Cancel: as after an error, nothing new is there.
// Deadlines: every call has runtime_options::io_timeout.
// Owns:   up to 2 * ranges * 4 MiB, which the ledger does not count.
// Thread: runs on the runtime's workers; on_bytes is called there, by one at a time.
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
  bool verifies = false;                             ///< reads the copy again, and compares
  unsigned ranges = 4;                               ///< read at once
  std::function<bool(std::uint64_t)> on_bytes = {};  ///< is told how many were written since the last call; false: stop
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
