// SPDX-License-Identifier: Apache-2.0
// An open regular file of the real file system, read through the page cache, behind which pages are dropped, or past it.
//
// keep:   what is in the cache is read on the calling thread (preadv2 with RWF_NOWAIT), the rest by the back end.
// drop:   the same, where the back end reads with RWF_DONTCACHE (Linux 6.14, some file systems), so that the pages that a read has
//         brought go again when it has copied them; and posix_fadvise(DONTNEED) behind each read for what was there before, for
//         what was read ahead, and where there is no such flag.
// direct: the back end reads aligned ranges into a buffer of their own, past the cache, and what was asked for is copied out of
//         it: up to 1 MiB for each read in flight. Alignments are what statx says (Linux 6.1), else 4096. A read that is refused with EINVAL turns the file into one of
//         `drop`.
// None of it changes what is read.
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

/// The kernel takes at most this much in one read; a multiple of every page size.
inline constexpr std::size_t kReadBytesMax = std::size_t{1} << 30;

/// Of a wait that no system call has ended, but a stop or the deadline: `done` is what was to be done by then. Else ok.
status ended_early(std::int64_t got, std::string_view done);
status read_error(int error_number, const std::string& path, std::uint64_t offset);

/// preadv2(RWF_NOWAIT): what the page cache has, else -EAGAIN. Where a sandbox refuses the call it turns itself off for good,
/// and everything goes to the back end; a file system that refuses the flag is asked in vain for each file.
class page_cache_reader {
 public:
  /// `refused`: this descriptor's file system does not know the flag, or this read is none: do not ask again.
  std::ptrdiff_t read(int fd, std::uint64_t offset, char* to, std::size_t n, std::atomic<bool>& refused) noexcept;

  /// Were the last reads of files' beginnings misses? Then the next file is not asked in vain, which would also start its I/O
  /// alone,
  /// but read with others by the back end as it is opened. Now and then the answer is no, to see whether that has changed.
  bool expects_misses() noexcept;
  void note_beginning(bool is_miss) noexcept;

 private:
  /// So many files are opened as if they missed after one that did.
  static constexpr int kBelieved = 64;
  // Relaxed: a guess; a file that guesses wrong is read a few microseconds later.
  std::atomic<int> misses_expected_{0};
  // Relaxed: a hint; a thread that sees it late makes one more call in vain.
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
  /// Returns how many bytes, or a negative errno.
  task<std::int64_t> read_direct(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n,
                                 time_point deadline);
  /// What a read of the back end came to, where it is to be done once more in another way. True: it is.
  bool give_in(std::int64_t got) noexcept;
  /// The pages of [offset, offset + n) have been read, and are not wanted any more.
  void leave_behind(std::uint64_t offset, std::size_t n) noexcept;

  std::shared_ptr<descriptor> from_;
  backend& io_;
  page_cache_reader& cache_;
  alignment aligned_;
  // Relaxed: hints. Whoever sees one late is refused once more by the kernel, and reads the same bytes.
  std::atomic<page_cache> how_;
  std::atomic<bool> has_dontcache_{true};
  std::atomic<bool> cache_refused_{false};
};

}  // namespace sluice::lib::detail
