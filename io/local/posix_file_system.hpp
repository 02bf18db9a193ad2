// SPDX-License-Identifier: Apache-2.0
// The real file system, over any back end.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "io/local/cached_open.hpp"
#include "io/local/operation.hpp"
#include "io/local/posix_file.hpp"
#include "io/local/stream_backend.hpp"
#include "sluice/base/result.hpp"
#include "sluice/io/file_system.hpp"

namespace sluice::lib::detail {

class posix_file_system final : public file_system {
 public:
  explicit posix_file_system(std::unique_ptr<backend> io) : io_(std::move(io)) {}

  task<std::unique_ptr<file>> open(std::string path, open_options o) override;
  task<file_info> stat(std::string path, time_point deadline) override;
  std::unique_ptr<listing> list(std::string pattern, list_options o) override;
  task<std::unique_ptr<file_writer>> create(std::string path, time_point deadline) override;
  std::string description() const override { return io_->description(); }

 private:
  result<std::unique_ptr<file>> open_standard_input();
  struct opened {
    std::int64_t fd = -1;  ///< a descriptor, or a negative errno
    struct stat found{};
    int stat_error = 0;
    std::size_t head_bytes = 0;
  };
  task<opened> open_descriptor(std::string path, int flags, open_options o);

  cached_open here_;  ///< opens files without the back end
  page_cache_reader cache_;
  std::unique_ptr<backend> io_;
  stream_backend streams_;
  // Relaxed: if several callers ask at once, any one of them gets it.
  std::atomic<bool> standard_input_taken_{false};
};

}  // namespace sluice::lib::detail
