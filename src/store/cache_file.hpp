// SPDX-License-Identifier: Apache-2.0
// cache_file: blocks of elements in a local file, which one process adds to while any number of them read it.
//
//   result<std::unique_ptr<cache_file>> file = cache_file::open("train.cache");    // created if it does not exist
//   if ((*file)->head().empty() && (*file)->can_write()) why = (*file)->begin(head);
//   std::vector<stored_block> blocks;
//   why = (*file)->scan(blocks);                             // those added since the last call, by any process
//   why = (*file)->append({.ordinal = 0, .count = 100, .position = …}, bytes);
//   result<std::string> bytes = (*file)->read(blocks[0]);    // checked
//
// Writers: a lock of the kernel (flock) on the file itself, which ends with its process, so no lock remains of a process that
//         was killed. Whoever takes the lock next cuts off what its predecessor has not completed.
// Format: frames (store/cache_frame.hpp). The first one is the head, which states what the elements depend on. A block's
//         body is the position of the input at its first element, then its elements.
// Errors: data_loss: a checksum is wrong, with the offset; failed_precondition: the file is something else; those of the file
//         system. A frame that ends beyond the file is being written, or its writer was killed: it does not count.
// Thread: any; every call blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/mutex.hpp"
#include "sluice/base/result.hpp"
#include "store/block_store.hpp"

namespace sluice::lib {

class cache_file final : public block_store {
 public:
  /// `rebuilds`: a file whose head is damaged is no error; is_damaged() is true then, and the file can be replaced.
  static result<std::unique_ptr<cache_file>> open(std::string path, bool rebuilds = false);
  /// Reads an existing file, and never writes to it.
  static result<std::unique_ptr<cache_file>> open_to_read(std::string path);
  /// Makes a file without a name in the folder of the environment variable TMPDIR, or in /tmp. This object may write to it.
  static result<std::unique_ptr<cache_file>> temporary();
  cache_file(const cache_file&) = delete;
  ~cache_file() override;

  const std::string& path() const override { return path_; }
  /// Returns true if this object has the lock. Otherwise tries to take it, and cuts off an incomplete end.
  bool can_write() override;
  /// Returns true if another process has the lock. REQUIRES: !can_write().
  bool is_written_elsewhere() const override;
  bool is_damaged() const override { return is_damaged_; }
  bool is_temporary() const override { return is_temporary_; }
  /// The head; empty if the file is new.
  std::string head() const override;
  /// The number of elements; kUnknown until a writer has stated it.
  std::uint64_t length() const override;
  std::uint64_t size_bytes() const override;

  // REQUIRES for these: can_write().

  status begin(std::string_view head) override;
  /// Replaces the file by one with this head and without blocks. Processes that have the old one open keep it.
  status replace(std::string_view head) override;
  /// Adds a block, and completes `b`. After an error the file is as before.
  status append(stored_block& b, const byte_parts& elements) override;
  /// States the number of elements.
  status finish(std::uint64_t length) override;
  /// Returns after the disk has stored what was written before. Other calls do not wait for it.
  status sync() override;

  status look(bool) override { return {}; }
  /// Removes the file.
  status drop() override;
  /// Appends the blocks that were added since the last call. Errors: those above; the blocks before the damage are found.
  status scan(std::vector<stored_block>& found) override;
  /// Returns true if the file has more bytes than were scanned.
  bool has_grown() const override;
  /// Returns the elements of a block, whose checksum is right.
  result<std::string> read(const stored_block& b) override;

 private:
  explicit cache_file(std::string path) : path_(std::move(path)) {}
  status open_file(bool creates);
  status scan_head() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  status scan_frames(std::vector<stored_block>& found) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void close_file() noexcept;
  bool take_lock() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  status write_frame(const std::vector<std::string_view>& parts) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  status error_of(const char* what, int error) const;
  status damage(std::uint64_t at, std::string_view what) const;

  const std::string path_;
  mutable mutex mutex_;
  int file_ = -1;
  bool may_write_ = false;
  bool is_damaged_ = false;
  bool is_temporary_ = false;
  bool is_writer_ ABSL_GUARDED_BY(mutex_) = false;
  std::string head_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t scanned_ ABSL_GUARDED_BY(mutex_) = 0;  ///< bytes
  std::uint64_t begun_ ABSL_GUARDED_BY(mutex_) = 0;    ///< the disk has begun to store the bytes before
  std::uint64_t length_ ABSL_GUARDED_BY(mutex_) = kUnknown;
};

}  // namespace sluice::lib
