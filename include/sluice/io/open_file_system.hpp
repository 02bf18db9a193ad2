// SPDX-License-Identifier: Apache-2.0
// Chooses the back end of the real file system.
//
//   auto files = open_file_system({.backend = io_backend::automatic});
//   (*files)->description();     // "io_uring", "threads: io_uring is not available: …"
//
// Containers often forbid io_uring; `automatic` then chooses threads and reports this in description(). The environment
// variable SLUICE_IO=uring|threads|auto decides if the options are `automatic`.
#pragma once

#include <memory>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/io/file_system.hpp"

namespace sluice::lib {

enum class io_backend : std::uint8_t { automatic, uring, threads };

struct io_options {
  io_backend backend = io_backend::automatic;
  /// The largest number of threads for blocking calls. Threads are started when needed. Disks benefit from several
  /// reads in flight.
  unsigned threads_max = 16;
};

/// Parses "uring", "threads", "auto" or "". Errors: invalid_argument; the message lists the three names.
result<io_backend> parse_io_backend(std::string_view text);

/// Errors: invalid_argument (SLUICE_IO has another value), unavailable (uring is required but not available, with the
/// errno).
result<std::unique_ptr<file_system>> open_file_system(io_options options = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::io_backend;
using lib::io_options;
using lib::open_file_system;
using lib::parse_io_backend;

}  // namespace sluice
