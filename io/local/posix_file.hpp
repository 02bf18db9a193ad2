// SPDX-License-Identifier: Apache-2.0
// An open regular file of the real file system. It is read through the page cache, through it with pages dropped
// afterwards, or past it.
//
// keep:   bytes in the cache are read on the calling thread (preadv2 with RWF_NOWAIT), other bytes by the back end.
// drop:   like keep, but the back end reads with RWF_DONTCACHE (Linux 6.14, some file systems), which removes the pages
//         of a read after copying them. posix_fadvise(DONTNEED) after each read removes pages that were cached before
//         or read ahead, and all pages if the flag is not available.
// direct: the back end reads aligned ranges past the cache into a buffer, up to 1 MiB for each read in flight, and
//         copies the requested bytes. Alignments come from statx (Linux 6.1), or are 4096. After a read that is refused
//         with EINVAL the file is read with `drop`.
//
// The bytes that are read are the same in each case.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "io/local/operation.hpp"
#include "sluice/io/file_system.hpp"

namespace sluice::lib::detail {

/// The largest length that the kernel accepts in one read; a multiple of every page size.
inline constexpr std::size_t kReadBytesMax = std::size_t{1} << 30;

/// Returns the error of a wait that was ended by a stop or the deadline, not by a system call; else ok. `done`: the
/// goal of the wait, for the message.
status ended_early(std::int64_t got, std::string_view done);
status read_error(int error_number, const std::string& path, std::uint64_t offset);

/// Reads bytes from the page cache with preadv2(RWF_NOWAIT); returns -EAGAIN if they are not cached. If a sandbox
/// refuses the call, it is never made again, and the back end reads everything. If a file system refuses the flag, each
/// of its files makes one failing call.
class page_cache_reader {
 public:
  /// `refused`: set if this descriptor's file system does not support the flag, or if this read is invalid. Do not call
  /// it again then.
  std::ptrdiff_t read(int fd, std::uint64_t offset, char* to, std::size_t n, std::atomic<bool>& refused) noexcept;

  /// Returns true if recent reads at the beginning of files were not cached. The next file is then not read on the
  /// calling thread, which would also start its I/O alone, but by the back end as it is opened, together with others.
  /// Sometimes it returns false to measure again.
  bool expects_misses() noexcept;
  void note_beginning(bool is_miss) noexcept;

 private:
  /// The number of files that are opened without trying the cache after one that was not cached.
  static constexpr int kBelieved = 64;
  // Relaxed: a guess. A wrong guess costs a few microseconds.
  std::atomic<int> misses_expected_{0};
  // Relaxed: a hint. A thread that reads the old value makes one more failing call.
  std::atomic<bool> usable_{true};
};

class posix_file final : public file {
 public:
  posix_file(std::string path, file_info info, std::shared_ptr<descriptor> from, backend& io, page_cache_reader& cache,
             page_cache how, std::size_t head_bytes);

  ready_read try_read_at(std::uint64_t offset, char* to, std::size_t n) noexcept override;
  std::uint64_t size_now() const noexcept override;
  task<std::size_t> read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n,
                            time_point deadline) override;

 private:
  struct alignment {
    std::size_t memory = 4096, offset = 4096;
  };
  operation* new_read(std::uint64_t offset, const buffer_ref& to, std::size_t at, std::size_t n) const;
  /// Returns the number of bytes, or a negative errno.
  task<std::int64_t> read_direct(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n,
                                 time_point deadline);
  /// Checks the result `got` of the back end's read. Returns true if the file must be read again in another way.
  bool falls_back(std::int64_t got) noexcept;
  /// Drops the pages of [offset, offset + n), which were read.
  void drop_pages(std::uint64_t offset, std::size_t n) noexcept;

  std::shared_ptr<descriptor> from_;
  backend& io_;
  page_cache_reader& cache_;
  alignment aligned_;
  // Relaxed: hints. A thread that reads an old value is refused once more by the kernel, and reads the same bytes.
  std::atomic<page_cache> how_;
  std::atomic<bool> has_dontcache_{true};
  std::atomic<bool> cache_refused_{false};
};

}  // namespace sluice::lib::detail
