// SPDX-License-Identifier: Apache-2.0
// The interface for reading, writing and listing files, one of the seams (docs/architecture.md). Real implementations: io_uring and a
// thread pool; simulated: memory and a seed.
//
//   auto names = files.list("data/train-*.tfrecord");
//   auto page = co_await names->next();                     // {path, info}, sorted; empty at the end of the listing
//   auto f = co_await files.open(page[0].path, {.known = page[0].info});
//   auto n = co_await f->read_at(0, b, 0, 256 << 10);       // b: a buffer_ref; the kernel may keep it longer
//
//   auto out = co_await files.create("copy.tfrecord");
//   co_await out->write(b, 0, n);
//   co_await out->commit();                                 // copy.tfrecord exists from here on
//
// Paths:  each file system defines its own paths. A path with a scheme ("s3://bucket/key") is passed to its file system
//         as a whole. files.hpp describes how a runtime chooses the file system.
// Streams: "-" opens standard input, once per file system. A FIFO (also a process substitution) opens at once; its
//         reads wait for its writers. Files without a size, such as those in /proc, are streams as well. A stream is
//         read once, from its beginning to its end. One thread serves all waiting reads of streams; no worker waits.
// Sizes: a stream has no known size. Neither has an object whose server reports none. Both end at the first read that
//         returns 0.
// Errors: every status contains the file's name. open and stat: not_found; permission_denied; invalid_argument (a
//         directory, a socket, a device); failed_precondition (standard input is opened again; the file differs from
//         `known`); resource_exhausted (no file descriptors left); cancelled; deadline_exceeded. A read: data_loss
//         (EIO), cancelled, deadline_exceeded.
// Cancel: a stop ends the wait with `cancelled`. The call waits for operations that the kernel has begun, so after the
//         await nothing writes into the buffer any more. If an awaiting coroutine is destroyed, the operation keeps the
//         buffer.
// Deadlines: moments on the run's own clock. A wait that reaches its deadline ends with deadline_exceeded, whatever the
//            kernel or the server does. If a read fails with deadline_exceeded, do not reuse its buffer: the operation
//            keeps its reference and may still write to it.
// Thread: a file system and its files may be used from any thread; results arrive on the awaiter's executor.
// Owns:   files share their descriptor with reads in flight. A file may be destroyed after its runtime, as part of a
//         stream, but no call may be made on it any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/buffer.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/base/file_info.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/io/deadline.hpp"

namespace sluice::lib {

/// The result of a read that does not wait.
struct ready_read {
  std::size_t bytes = 0;   ///< 0: the end of the file, or must_wait, or an error
  bool must_wait = false;  ///< nothing is available without waiting: use read_at
  status why = {};
};

/// Advice on how to read a file efficiently from beginning to end. The reader chooses values that are 0.
struct read_advice {
  std::size_t first_bytes = 0;  ///< the smallest useful read: a shorter one takes as long
  std::size_t range_bytes_max =
      0;  ///< the longest useful range to read ahead; each range is twice as long as the one before
  std::uint32_t ahead_at_once =
      0;  ///< number of ranges to read ahead from the first read that waits, as far as allowed
  std::uint32_t reads_at_once = 0;  ///< ranges in flight if neither the plan nor the user sets the number
  bool in_order = false;            ///< no read-ahead: one read at a time, each beginning where the last one ended
  bool keep_read = false;  ///< keep the bytes that were read: reading them again takes as long as the first time
};

/// Requests to a server that have begun to answer.
struct request_times {
  std::uint64_t requests = 0;
  duration first_byte{};  ///< the sum of the times until they did; the rest of an answer takes longer
};

/// An open file or stream, for reading. A file allows any number of reads in flight at once, a stream one.
class file {
 public:
  /// `head_bytes`: see head_bytes().
  file(std::string path, file_info info, std::size_t head_bytes = 0)
      : path_(std::move(path)), info_(std::move(info)), head_bytes_(head_bytes) {}
  virtual ~file() = default;
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  const std::string& path() const noexcept { return path_; }
  /// The size when the file was opened.
  std::uint64_t size_bytes() const noexcept { return info_.size_bytes; }
  const file_info& info() const noexcept { return info_; }
  /// The number of bytes, from the file's beginning, that were read into open_options::head when it was opened.
  std::size_t head_bytes() const noexcept { return head_bytes_; }
  /// The current size, which other programs may have changed; kUnknownSize if the file has no size.
  virtual std::uint64_t size_now() const noexcept = 0;

  /// Reads `n` bytes from `offset` on to `to->data() + at`. Returns the number of bytes read, which is less than n only
  /// at the end of the file. Copies bytes that are in memory on the calling thread; only the rest goes to the back end.
  /// A stream returns the next bytes, as soon as any are available, and 0 at its end. Its `offset` is the number of
  /// bytes read before.
  virtual task<std::size_t> read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n,
                                    time_point deadline = kNever) = 0;

  virtual read_advice advice() const noexcept { return {}; }
  /// Returns the requests of this file that have begun to answer since the last call; none if it is not on a server.
  /// Thread: any.
  virtual request_times take_request_times() noexcept { return {}; }

  /// Reads only bytes that are available without waiting.
  virtual ready_read try_read_at(std::uint64_t offset, char* to, std::size_t n) noexcept = 0;

 private:
  std::string path_;
  file_info info_;
  std::size_t head_bytes_;
};

/// A file that is being written. If it is destroyed without commit(), it leaves nothing behind, and an existing file of
/// its name is unchanged. One call at a time.
class file_writer {
 public:
  virtual ~file_writer() = default;
  /// Appends n bytes from `from->data() + at` on.
  virtual task<> write(buffer_ref from, std::size_t at, std::size_t n, time_point deadline = kNever) = 0;
  /// Makes the file durable, then gives it its name: after a power cut the name refers to the old file or to the whole
  /// new one. Must be the last call.
  virtual task<file_info> commit(time_point deadline = kNever) = 0;
};

struct listed_file {
  std::string path;
  /// The information that the listing had, or was asked for. Empty if the path is a folder, or was not examined.
  std::optional<file_info> info;
};

struct list_options {
  /// Examine every file, even if that costs more than the listing.
  bool with_info = false;
  /// Also list the folders that match, with a / at their ends, where a store has them only as parts of its keys. Local
  /// and HDFS patterns match folders in any case.
  bool with_folders = false;
};

/// The paths that match a pattern, in pages. One call at a time.
class listing {
 public:
  virtual ~listing() = default;
  /// Returns the next page, sorted by bytes within a page and from page to page; an empty page at the end. Errors:
  /// not_found with the pattern if nothing matches, also for a plain path that does not exist; permission_denied if a
  /// folder cannot be read.
  virtual task<std::vector<listed_file>> next(time_point deadline = kNever) = 0;
};

struct open_options {
  /// The information from a listing. A file system may use it instead of examining the file again. It must then detect,
  /// at the latest at the first read, that the file is a different one by now, and report failed_precondition. Readers
  /// of pipelines then open the file again without `known`.
  std::optional<file_info> known = {};
  time_point deadline = kNever;
  /// Optional: a file system without a page cache ignores it.
  page_cache cache = page_cache::keep;
  /// For a file that is next read from its beginning. If opening and reading together take less time than one after the
  /// other, the file system may read the first bytes into this buffer, up to `head_bytes`, and report their number by
  /// file::head_bytes(). This is optional, too: if the read fails, the next read reports the error. The operation keeps
  /// its reference to the buffer, as a read does.
  buffer_ref head = {};
  std::size_t head_bytes = 0;
  /// How the file is read. With `onward`, from some place to its end: a file on a server then requests more than a read
  /// needs, because a request costs as much as some MiB. With `exact`, the reader knows the ranges that it needs: each
  /// read requests its range and no other byte, and opening requests only the `begin_bytes` bytes at the beginning.
  enum reading_type : std::uint8_t { onward, exact } reading = onward;
  /// With `exact`: the length of the first read, if that one is at the beginning; 0: it is elsewhere.
  std::uint64_t begin_bytes = 0;
};

/// `files_of(runtime)` in files.hpp returns the file system of a runtime.
class file_system {
 public:
  virtual ~file_system() = default;
  virtual task<std::unique_ptr<file>> open(std::string path, open_options o = {}) = 0;
  virtual task<file_info> stat(std::string path, time_point deadline = kNever) = 0;
  /// `*`, `?` and `[…]` do not cross a `/`; `**` does (op/list_files.hpp).
  virtual std::unique_ptr<listing> list(std::string pattern, list_options o = {}) = 0;
  /// A second writer of the same file is rejected, if the file system can detect it; the error names the first writer.
  /// Errors: unimplemented if the file system cannot write.
  virtual task<std::unique_ptr<file_writer>> create(std::string path, time_point deadline = kNever) = 0;
  /// The number of bytes that a whole-file reader reads first. A reader prepares a buffer of this size while a slow
  /// open runs. 0: opening is fast.
  virtual std::size_t first_read_bytes(const std::string& path) const {
    (void)path;
    return 0;
  }
  /// The back end and the reason for it, for reports: "io_uring", "threads: io_uring is not available: …". Empty if it
  /// has not been used and nothing is known about it.
  virtual std::string description() const = 0;
};

/// Returns all paths that match, sorted. Errors: those of listing::next.
task<std::vector<std::string>> glob(file_system& files, std::string pattern, time_point deadline = kNever);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::file_system;

}  // namespace sluice
