// SPDX-License-Identifier: Apache-2.0
#include "io/local/posix_file.hpp"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "io/local/read_flags.hpp"

namespace sluice::lib::detail {
namespace {

/// The largest range that one read past the cache covers, and the size of its buffer.
constexpr std::size_t kDirectBytes = std::size_t{1} << 20;

std::uint64_t aligned_down(std::uint64_t n, std::uint64_t to) { return n / to * to; }
std::uint64_t aligned_up(std::uint64_t n, std::uint64_t to) { return aligned_down(n + to - 1, to); }

}  // namespace

status ended_early(std::int64_t got, std::string_view done) {
  if (got == -ECANCELED) return cancelled_error();
  if (got != operation::kTimedOut) return {};
  return status(status_code::deadline_exceeded,
                absl::StrCat("could not be ", std::string(done), " until the deadline"));
}

status read_error(int error_number, const std::string& path, std::uint64_t offset) {
  status early = ended_early(-error_number, "read");
  return (early.ok() ? errno_error(error_number, "cannot read") : std::move(early)).in_file(path, offset);
}

std::ptrdiff_t page_cache_reader::read(int fd, std::uint64_t offset, char* to, std::size_t n,
                                       std::atomic<bool>& refused) noexcept {
  if (!usable_.load(std::memory_order_relaxed) || refused.load(std::memory_order_relaxed)) return -EAGAIN;
  iovec piece{to, n};
  ssize_t got = ::preadv2(fd, &piece, 1, static_cast<off_t>(offset), RWF_NOWAIT);
  if (got >= 0) return got;
  if (errno == EAGAIN || errno == EINTR) return -EAGAIN;
  if (errno == EIO) return -EIO;
  // an old kernel or seccomp; EOPNOTSUPP and EINVAL concern this file only
  bool for_all = errno == ENOSYS || errno == EPERM;
  if (for_all) usable_.store(false, std::memory_order_relaxed);
  else refused.store(true, std::memory_order_relaxed);  // the back end reports the error
  return -EAGAIN;
}

bool page_cache_reader::expects_misses() noexcept {
  const int left = misses_expected_.load(std::memory_order_relaxed);
  if (left > 0) misses_expected_.store(left - 1, std::memory_order_relaxed);
  return left > 0;
}

void page_cache_reader::note_beginning(bool is_miss) noexcept {
  misses_expected_.store(is_miss ? kBelieved : 0, std::memory_order_relaxed);
}

posix_file::posix_file(std::string path, file_info info, std::shared_ptr<descriptor> from, backend& io,
                       page_cache_reader& cache, page_cache how, std::size_t head_bytes)
    : file(std::move(path), info, head_bytes), from_(std::move(from)), io_(io), cache_(cache), how_(how) {
  drop_pages(0, head_bytes);
#ifdef STATX_DIOALIGN
  struct statx s{};
  if (how == page_cache::direct && ::statx(from_->number, "", AT_EMPTY_PATH, STATX_DIOALIGN, &s) == 0 &&
      (s.stx_mask & STATX_DIOALIGN) && s.stx_dio_mem_align && s.stx_dio_offset_align)
    aligned_ = {.memory = s.stx_dio_mem_align, .offset = s.stx_dio_offset_align};
#endif
}

ready_read posix_file::try_read_at(std::uint64_t offset, char* to, std::size_t n) noexcept {
  if (how_.load(std::memory_order_relaxed) == page_cache::direct) return {.must_wait = true};
  std::ptrdiff_t got = cache_.read(from_->number, offset, to, n, cache_refused_);
  if (offset == 0 && n != 0) cache_.note_beginning(got == -EAGAIN);
  if (got >= 0) {
    drop_pages(offset, static_cast<std::size_t>(got));
    return {.bytes = static_cast<std::size_t>(got)};
  }
  if (got == -EAGAIN) return {.must_wait = true};
  return {.why = read_error(static_cast<int>(-got), path(), offset)};
}

std::uint64_t posix_file::size_now() const noexcept {
  struct stat s;
  return ::fstat(from_->number, &s) == 0 ? static_cast<std::uint64_t>(s.st_size) : size_bytes();
}

operation* posix_file::new_read(std::uint64_t offset, const buffer_ref& to, std::size_t at, std::size_t n) const {
  auto* op = new operation(operation::kind::read);
  op->from = from_;
  op->to = to;
  op->at = at;
  op->length = std::min(n, kReadBytesMax);
  op->offset = offset;
  const bool drops = how_.load(std::memory_order_relaxed) == page_cache::drop;
  if (drops && has_dontcache_.load(std::memory_order_relaxed)) op->read_flags = kDontCache;
  return op;
}

bool posix_file::falls_back(std::int64_t got) noexcept {
  switch (how_.load(std::memory_order_relaxed)) {
    case page_cache::keep: return false;
    case page_cache::drop:
      // A file system without the flag, an older kernel, or a sandbox without preadv2.
      return (got == -EOPNOTSUPP || got == -EINVAL || got == -ENOSYS || got == -EPERM) &&
             has_dontcache_.exchange(false, std::memory_order_relaxed);
    case page_cache::direct: break;
  }
  if (got != -EINVAL) return false;
  ::fcntl(from_->number, F_SETFL, 0);
  how_.store(page_cache::drop, std::memory_order_relaxed);
  return true;
}

void posix_file::drop_pages(std::uint64_t offset, std::size_t n) noexcept {
  if (n == 0 || how_.load(std::memory_order_relaxed) != page_cache::drop) return;
  // The kernel drops whole folios, which may be larger than a read: a folio read in parts is dropped with its last
  // part. If a page is dropped while another read needs it, it is read again, which costs time only.
  constexpr std::uint64_t kBehind = std::uint64_t{4} << 20;
  const std::uint64_t from = aligned_down(offset - std::min(offset, kBehind), kBehind);
  const std::uint64_t to = offset + n >= size_bytes() ? 0 : offset + n;  // 0: to the end of the file
  if (to == 0 || to > from)
    ::posix_fadvise(from_->number, static_cast<off_t>(from), static_cast<off_t>(to == 0 ? 0 : to - from),
                    POSIX_FADV_DONTNEED);
}

task<std::int64_t> posix_file::read_direct(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n,
                                           time_point deadline) {
  const std::uint64_t begin = aligned_down(offset, aligned_.offset);
  const std::size_t before = static_cast<std::size_t>(offset - begin);
  const std::size_t length = static_cast<std::size_t>(
      aligned_up(before + std::min(n, kDirectBytes - std::min(kDirectBytes / 2, before)), aligned_.offset));
  buffer_ref room(buffer::make(length + aligned_.memory));
  const auto address = reinterpret_cast<std::uintptr_t>(room->data());
  const std::size_t pad = static_cast<std::size_t>(aligned_up(address, aligned_.memory) - address);
  operation* op = new_read(begin, room, pad, length);
  std::int64_t got = co_await perform(io_, op, deadline);
  if (got < 0) co_return got;
  const std::size_t useful =
      static_cast<std::size_t>(got) <= before ? 0 : std::min(n, static_cast<std::size_t>(got) - before);
  if (useful) std::memcpy(to->data() + at, room->data() + pad + before, useful);
  co_return static_cast<std::int64_t>(useful);
}

task<std::size_t> posix_file::read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n,
                                      time_point deadline) {
  std::size_t done = 0;
  while (done < n) {
    std::int64_t got = -EAGAIN;
    if (how_.load(std::memory_order_relaxed) == page_cache::direct) {
      buffer_ref share = to;
      auto reading = read_direct(offset + done, std::move(share), at + done, n - done, deadline);
      got = co_await reading;
    } else {
      got = cache_.read(from_->number, offset + done, to->data() + at + done, n - done, cache_refused_);
      if (got == -EAGAIN) {
        operation* op = new_read(offset + done, to, at + done, n - done);
        got = co_await perform(io_, op, deadline);
      }
      if (got > 0) drop_pages(offset + done, static_cast<std::size_t>(got));
    }
    if (got == -EINTR || (got < 0 && falls_back(got))) continue;
    if (got < 0) {
      status why = read_error(static_cast<int>(-got), path(), offset + done);
      co_await fail(std::move(why));
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  co_return done;
}

}  // namespace sluice::lib::detail
