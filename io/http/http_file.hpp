// SPDX-License-Identifier: Apache-2.0
// An object that is read as a file, by ranges. The body of the answer that opened it is stored until the first read, so
// an object of up to a MiB that is read onward costs one request.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

#include "io/http/http_object.hpp"
#include "io/http/messages/whole_checksum.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/io/file_system.hpp"

namespace sluice::lib::detail {

class http_file final : public file {
 public:
  /// The number of bytes that the opening request asks for, and the minimum that a read asks for, of a file that is read
  /// onward.
  static constexpr std::size_t kFirstBytes = std::size_t{1} << 20;
  static constexpr std::size_t kRangeBytesMax = std::size_t{8} << 20;

  /// `body`: begins at byte 0; null: the server sends ranges, or no request was sent yet.
  http_file(std::string path, file_info info, std::shared_ptr<http_object> object, std::unique_ptr<http_exchange> body,
            open_options::reading_type reading);

  /// The number of bytes at the beginning that opening requests.
  static std::uint64_t bytes_to_open(const open_options& o) {
    return o.reading == open_options::exact ? std::min<std::uint64_t>(o.begin_bytes, kFirstBytes) : kFirstBytes;
  }

  ~http_file() override;

  std::uint64_t size_now() const noexcept override { return size_bytes(); }
  task<std::size_t> read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n,
                            time_point deadline) override;
  read_advice advice() const noexcept override;
  request_times take_request_times() noexcept override { return object_->take_request_times(); }
  ready_read try_read_at(std::uint64_t offset, char* to, std::size_t n) noexcept override;

 private:
  /// Returns the stored body if it is at `offset`; null: another request is needed. Drops a body that is no longer
  /// useful.
  std::unique_ptr<http_exchange> take_body(std::uint64_t offset);
  void keep_body(std::unique_ptr<http_exchange> body, std::uint64_t at);
  /// Adds bytes to the checksum. Returns an error if the whole object was read and the server's checksum differs.
  status check(std::uint64_t offset, std::span<const char> bytes);
  task<std::size_t> read_on(std::uint64_t offset, std::span<char> to, time_point deadline);

  const std::shared_ptr<http_object> object_;
  const std::shared_ptr<std::atomic<std::uint32_t>> open_files_;  ///< shared by all files of this server
  const bool does_ranges_;
  const std::uint64_t asks_for_;                ///< the minimum that a read asks for
  const std::unique_ptr<whole_checksum> seen_;  ///< null: the server reports no checksum
  mutex mutex_;
  std::unique_ptr<http_exchange> body_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t body_at_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;  ///< for an object of unknown size
};

}  // namespace sluice::lib::detail
