// SPDX-License-Identifier: Apache-2.0
// The real file system, written once over whatever carries the operations out.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "io/operation.hpp"
#include "io/stream_backend.hpp"
#include "sluice/base/result.hpp"
#include "sluice/io/file_system.hpp"

namespace sluice::lib::detail {

/// preadv2(RWF_NOWAIT): what the page cache has, else -EAGAIN. Where a sandbox refuses the call it turns itself off for good,
/// and everything goes to the back end; a file system that refuses the flag is asked in vain for each file.
class page_cache_reader {
 public:
  /// `refused`: this descriptor's file system does not know the flag, or this read is none: do not ask again.
  std::ptrdiff_t read(int fd, std::uint64_t offset, char* to, std::size_t n, std::atomic<bool>& refused) noexcept;

 private:
  // Relaxed: a hint; a thread that sees it late makes one more call in vain.
  std::atomic<bool> usable_{true};
};

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

  page_cache_reader cache_;
  std::unique_ptr<backend> io_;
  stream_backend streams_;
  // Relaxed: one of those who ask at once gets it, whichever.
  std::atomic<bool> standard_input_taken_{false};
};

}  // namespace sluice::lib::detail
