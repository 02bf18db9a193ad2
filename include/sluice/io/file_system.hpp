// SPDX-License-Identifier: Apache-2.0
// Where bytes come from and go to: one of the five seams. Real twins: io_uring and a thread pool; simulated: memory and a seed.
//
//   auto names = files.list("data/train-*.tfrecord");
//   auto page = co_await names->next();                     // {path, info}, sorted; empty: that was all
//   auto f = co_await files.open(page[0].path, {.known = page[0].info});
//   auto n = co_await f->read_at(0, b, 0, 256 << 10);       // b: a buffer_ref; the kernel may keep it longer
//
//   auto out = co_await files.create("copy.tfrecord");
//   co_await out->write(b, 0, n);
//   co_await out->commit();                                 // only now is there a copy.tfrecord
//
// Paths: what they look like is each file system's own; one of a scheme ("s3://bucket/key") is given all of it. files.hpp
//   says how a runtime chooses.
// Streams: "-" opens standard input, once in the life of a file system; a FIFO (a process substitution, too) opens at once
//   and is read when its writers have written. Files without a size, as in /proc, are streams as well. A stream is read
//   from its beginning to its end, and once; a read waits on a thread for all streams, never on a worker.
// Sizes: of streams, and of objects whose server does not tell, the size is not known; these end where a read gives 0.
// Errors: every status names the file. open and stat: not_found, permission_denied, invalid_argument (a directory, a
//   socket, a device), failed_precondition (standard input, again; not what `known` says), resource_exhausted (no
//   descriptors left), cancelled, deadline_exceeded. A read: data_loss (EIO), cancelled, deadline_exceeded.
// Cancel: a stop ends the wait with `cancelled`. What the kernel has begun is waited for, so after the await nothing
//   reads into the buffer any more; an awaiting coroutine that is destroyed leaves its buffer to the operation.
// Deadlines: are moments of the run's own clock. A wait that reaches its deadline ends with deadline_exceeded whatever
//   the kernel or the server does: an operation that hangs keeps its reference on the buffer, whose bytes may then still
//   change. So a buffer of a read that failed so is not to be used for anything else.
// Thread: a file system and its files may be used from any thread; results arrive on the awaiter's executor.
// Owns: files share their descriptor with reads in flight and may outlive neither the file system nor its runtime.
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

/// What a read that does not wait has given.
struct ready_read {
  std::size_t bytes = 0;   ///< 0: the end of the file, or must_wait, or an error
  bool must_wait = false;  ///< nothing can be had without waiting: use read_at
  status why = {};
};

/// How a file is best read from its beginning to its end. Zeros leave it to the reader.
struct read_advice {
  std::size_t first_bytes = 0;  ///< each read asks for at least so many: a request for less costs as much
  std::size_t range_bytes_max =
      0;  ///< ranges that are read ahead may be this long; each is twice as long as the one before
  std::uint32_t ahead_at_once =
      0;  ///< from the first read that waits on, so many ranges are read ahead, as far as allowed
  std::uint32_t reads_at_once = 0;  ///< so many ranges in flight where neither plan nor user says how many
  bool in_order = false;   ///< nothing may be read ahead: one read at a time, each where the last one has ended
  bool keep_read = false;  ///< what was read is not to be read again: that takes as long as it did
};

/// An open file or stream, for reading. Any number of reads may be in flight at once, but for a stream.
class file {
 public:
  /// `head_bytes`: see head_bytes().
  file(std::string path, file_info info, std::size_t head_bytes = 0)
      : path_(std::move(path)), info_(std::move(info)), head_bytes_(head_bytes) {}
  virtual ~file() = default;
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  const std::string& path() const noexcept { return path_; }
  /// When it was opened.
  std::uint64_t size_bytes() const noexcept { return info_.size_bytes; }
  const file_info& info() const noexcept { return info_; }
  /// So many bytes, from the file's beginning on, were read into open_options::head when it was opened.
  std::size_t head_bytes() const noexcept { return head_bytes_; }
  /// Its size at this moment, which others may have changed; kUnknownSize where it has none.
  virtual std::uint64_t size_now() const noexcept = 0;

  /// Reads `n` bytes from `offset` on to `to->data() + at`; returns how many: fewer than n only at the end of the file.
  /// Takes what is in memory on the calling thread; only the rest goes to the back end.
  /// Of a stream: what comes next, as soon as there is any; `offset` says how much was read before; 0: the end.
  virtual task<std::size_t> read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n,
                                    time_point deadline = kNever) = 0;

  virtual read_advice advice() const noexcept { return {}; }

  /// Only what needs no waiting.
  virtual ready_read try_read_at(std::uint64_t offset, char* to, std::size_t n) noexcept = 0;

 private:
  std::string path_;
  file_info info_;
  std::size_t head_bytes_;
};

/// A file that is being written. Dropped without commit() it leaves nothing behind, and what had its name is as it was.
/// One call at a time.
class file_writer {
 public:
  virtual ~file_writer() = default;
  /// Adds n bytes from `from->data() + at` on.
  virtual task<> write(buffer_ref from, std::size_t at, std::size_t n, time_point deadline = kNever) = 0;
  /// Makes it durable, then gives it its name: after a power cut it is the old file or the whole new one. The last call.
  virtual task<file_info> commit(time_point deadline = kNever) = 0;
};

struct listed_file {
  std::string path;
  /// What the listing knew anyway, or was asked for; nothing: the path is a folder, or nobody looked.
  std::optional<file_info> info;
};

struct list_options {
  bool with_info = false;  ///< where looking costs more than the listing: look all the same
};

/// The paths that match a pattern, page by page. One call at a time.
class listing {
 public:
  virtual ~listing() = default;
  /// The next of them, sorted by bytes within a page and from page to page; none: that was all.
  /// Errors: not_found naming the pattern where nothing matches, also for a plain path that does not exist;
  ///   permission_denied where a folder cannot be read.
  virtual task<std::vector<listed_file>> next(time_point deadline = kNever) = 0;
};

struct open_options {
  /// What a listing said of it. A file system may believe that instead of asking once more; it then has to notice, at the
  /// latest with the first read, where the file is another one by now: failed_precondition. Readers of pipelines then open it
  /// again without this.
  std::optional<file_info> known = {};
  time_point deadline = kNever;
  page_cache cache = page_cache::keep;  ///< a wish: file systems without such a cache need not know it
  /// Of a file that is read from its beginning next. A file system for which opening and reading take less together than one
  /// after
  /// the other may read its first bytes into this buffer, up to `head_bytes`, and says so by file::head_bytes(). A wish, too:
  /// whatever stands in the way of the read is left to the next one. As with a read, the operation keeps its reference.
  buffer_ref head = {};
  std::size_t head_bytes = 0;
};

/// `files_of(runtime)` in files.hpp gives a runtime's own.
class file_system {
 public:
  virtual ~file_system() = default;
  virtual task<std::unique_ptr<file>> open(std::string path, open_options o = {}) = 0;
  virtual task<file_info> stat(std::string path, time_point deadline = kNever) = 0;
  /// `*`, `?` and `[…]` do not cross a `/`; `**` does (op/list_files.hpp).
  virtual std::unique_ptr<listing> list(std::string pattern, list_options o = {}) = 0;
  /// A second writer of the same file is refused, and told who the first is, where the file system can know.
  /// Errors: unimplemented where nothing can be written.
  virtual task<std::unique_ptr<file_writer>> create(std::string path, time_point deadline = kNever) = 0;
  /// How much a reader of a whole file reads first, where opening one takes so long that the memory for it can be made ready
  /// meanwhile. 0: it does not.
  virtual std::size_t first_read_bytes(const std::string& path) const {
    (void)path;
    return 0;
  }
  /// Which back end this is, and why: for reports. "io_uring", "threads: io_uring is not available: …". Empty: it has not been
  /// used, and there is nothing to say of it.
  virtual std::string description() const = 0;
};

/// All paths that match, sorted. Errors: those of listing::next.
task<std::vector<std::string>> glob(file_system& files, std::string pattern, time_point deadline = kNever);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::file_system;

}  // namespace sluice
