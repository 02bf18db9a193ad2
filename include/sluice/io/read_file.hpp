// SPDX-License-Identifier: Apache-2.0
// Reads a small file as a whole through the runtime's file system: without blocking a thread, and in a simulation.
//
//   std::string words = co_await read_file(rt, "vocabulary.txt");
//
// Deadlines: every open and read has runtime_options::io_timeout, as in a pipeline.
// Errors: those of file_system::open and file::read_at; out_of_range: the file is longer than `bytes_max`. All contain
//         the path.
// Cancel: the same as for file::read_at.
// See:    sluice/base/small_file.hpp, which blocks and needs no runtime.
#pragma once

#include <cstddef>
#include <string>

#include "sluice/coro/task.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

task<std::string> read_file(runtime& rt, std::string path, std::size_t bytes_max = std::size_t{64} << 20);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::read_file;

}  // namespace sluice
