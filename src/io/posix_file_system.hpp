// SPDX-License-Identifier: Apache-2.0
// The real file system, written once over whatever carries the operations out.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "io/operation.hpp"
#include "sluice/io/file_system.hpp"

namespace sluice::detail {

/// preadv2(RWF_NOWAIT): what the page cache has, else -EAGAIN. Sandboxes and some file systems refuse the call or the
/// flag; then it turns itself off for good, and everything goes to the back end.
class page_cache_reader {
 public:
  std::ptrdiff_t read(int fd, std::uint64_t offset, char* to, std::size_t n) noexcept;

 private:
  // Relaxed: a hint; a thread that sees it late makes one more call in vain.
  std::atomic<bool> usable_{true};
};

class posix_file_system final : public file_system {
 public:
  explicit posix_file_system(std::unique_ptr<backend> io) : io_(std::move(io)) {}

  task<std::unique_ptr<file>> open(std::string path) override;
  task<file_info> stat(std::string path) override;
  task<std::vector<std::string>> glob(std::string pattern) override;
  std::string description() const override { return io_->description(); }

 private:
  page_cache_reader cache_;
  std::unique_ptr<backend> io_;
};

}  // namespace sluice::detail
