// SPDX-License-Identifier: Apache-2.0
// Where files come from: one of the five seams. Real twins: io_uring and a thread pool; simulated: memory and a seed.
//
//   auto names = co_await files.glob("data/train-*.tfrecord");
//   auto f = co_await files.open(names[0]);
//   auto n = co_await f->read_at(0, b, 0, 256 << 10);       // b: a buffer_ref; the kernel may keep it longer
//
// Streams: "-" opens standard input, once in the life of a file system; a FIFO (a process substitution, too) opens at once
//   and is read when its writers have written. Files without a size, as in /proc, are streams as well. A stream is read
//   from its beginning to its end, and once; a read waits on a thread for all streams, never on a worker.
// Errors: every status names the file. open and stat: not_found, permission_denied, invalid_argument (a directory, a
//   socket, a device), failed_precondition (standard input, again), resource_exhausted (no descriptors
//   left), cancelled. A read: data_loss (EIO), cancelled.
// Cancel: a stop ends the wait with `cancelled`. What the kernel has begun is waited for, so after the await nothing
//   reads into the buffer any more; an awaiting coroutine that is destroyed leaves its buffer to the operation.
// Thread: a file system and its files may be used from any thread; results arrive on the awaiter's executor.
// Owns: files share their descriptor with reads in flight and may outlive neither the file system nor its runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sluice/base/buffer.hpp"
#include "sluice/coro/task.hpp"

namespace sluice::lib {

/// What is known of a file before it is read. All of it together tells whether it is still the same file.
struct file_info {
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;  ///< since 1970
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  bool is_stream = false;  ///< its size is not known, and it can be read once only; of the rest nothing is meant
};

/// An open regular file or stream, for reading.
class file {
 public:
  file(std::string path, file_info info) : path_(std::move(path)), info_(info) {}
  virtual ~file() = default;
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  const std::string& path() const noexcept { return path_; }
  /// When it was opened.
  std::uint64_t size_bytes() const noexcept { return info_.size_bytes; }
  const file_info& info() const noexcept { return info_; }
  /// Its size at this moment, which others may have changed. Not of a stream.
  virtual std::uint64_t size_now() const noexcept = 0;

  /// Reads `n` bytes from `offset` on to `to->data() + at`; returns how many: fewer than n only at the end of the file.
  /// Takes what is in the page cache on the calling thread; only the rest goes to the back end.
  /// Of a stream: what comes next, as soon as there is any; `offset` says how much was read before; 0: the end.
  virtual task<std::size_t> read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n) = 0;

  /// Only what needs no waiting: the bytes read, 0 at the end of the file, or a negative errno; -EAGAIN: use read_at.
  virtual std::ptrdiff_t try_read_at(std::uint64_t offset, char* to, std::size_t n) noexcept = 0;

 private:
  std::string path_;
  file_info info_;
};

/// `files_of(runtime)` in files.hpp gives a runtime's own.
class file_system {
 public:
  virtual ~file_system() = default;
  virtual task<std::unique_ptr<file>> open(std::string path) = 0;
  virtual task<file_info> stat(std::string path) = 0;
  /// Paths that match, sorted by bytes. `*`, `?` and `[…]` do not cross a `/`.
  /// Errors: not_found naming the pattern where nothing matches, also for a plain path that does not exist;
  ///   permission_denied where a folder cannot be read.
  virtual task<std::vector<std::string>> glob(std::string pattern) = 0;
  /// Which back end this is, and why: for reports. "io_uring", "threads: io_uring is not available: …".
  virtual std::string description() const = 0;
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::file_system;

}  // namespace sluice
