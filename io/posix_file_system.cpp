// SPDX-License-Identifier: Apache-2.0
#include "io/posix_file_system.hpp"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "io/nothing_matches.hpp"

namespace sluice::lib::detail {

std::ptrdiff_t page_cache_reader::read(int fd, std::uint64_t offset, char* to, std::size_t n,
                                       std::atomic<bool>& refused) noexcept {
  if (!usable_.load(std::memory_order_relaxed) || refused.load(std::memory_order_relaxed)) return -EAGAIN;
  iovec piece{to, n};
  ssize_t got = ::preadv2(fd, &piece, 1, static_cast<off_t>(offset), RWF_NOWAIT);
  if (got >= 0) return got;
  if (errno == EAGAIN || errno == EINTR) return -EAGAIN;
  if (errno == EIO) return -EIO;
  bool for_all = errno == ENOSYS || errno == EPERM;  // an old kernel, seccomp; else EOPNOTSUPP, EINVAL of this file
  if (for_all) usable_.store(false, std::memory_order_relaxed);
  else refused.store(true, std::memory_order_relaxed);  // the slow path tells what is wrong
  return -EAGAIN;
}

namespace {

// O_NONBLOCK so that a FIFO without a writer does not hang; it is cleared again for regular files.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
// The kernel takes at most this much in one read; a multiple of every page size.
constexpr std::size_t kReadBytesMax = std::size_t{1} << 30;

file_info info_of(const struct stat& s) {
  file_info info;
  info.size_bytes = static_cast<std::uint64_t>(s.st_size);
  info.modified_ns = s.st_mtim.tv_sec * std::int64_t{1'000'000'000} + s.st_mtim.tv_nsec;
  info.inode = s.st_ino;
  info.device = s.st_dev;
  return info;
}

/// Files that the kernel makes up when they are read claim to be empty. Reading tells how long they are.
bool is_made_up(int fd, const struct stat& s) {
  struct statfs home;
  if (!S_ISREG(s.st_mode) || s.st_size != 0 || ::fstatfs(fd, &home) != 0) return false;
  constexpr std::array<std::uint32_t, 7> kMadeUp = {PROC_SUPER_MAGIC,    SYSFS_MAGIC,   CGROUP_SUPER_MAGIC,
                                                    CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC,
                                                    SECURITYFS_MAGIC};
  return std::find(kMadeUp.begin(), kMadeUp.end(), static_cast<std::uint32_t>(home.f_type)) != kMadeUp.end();
}

file_info info_of_stream() {
  file_info info;
  info.is_stream = true;
  return info;
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode)) return "a character device";
  if (S_ISBLK(mode)) return "a block device";
  return "not a file";
}

/// Ok for a regular file.
status check_regular(mode_t mode, const std::string& path) {
  if (S_ISREG(mode)) return {};
  return invalid_argument_error(absl::StrCat("is ", kind_of(mode), ", and only files, FIFOs and - can be read"))
      .in_file(path);
}

status open_error(int error_number, const std::string& path) {
  struct stat s;
  // A socket cannot be opened at all: say what it is rather than ENXIO's words.
  if (error_number == ENXIO && ::stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode))
    return check_regular(s.st_mode, path);
  if (error_number == ECANCELED) return cancelled_error().in_file(path);
  return errno_error(error_number, "cannot open").in_file(path);
}

status read_error(int error_number, const std::string& path, std::uint64_t offset) {
  if (error_number == ECANCELED) return cancelled_error().in_file(path);
  return errno_error(error_number, "cannot read").in_file(path, offset);
}

class posix_file final : public file {
 public:
  posix_file(std::string path, file_info info, std::shared_ptr<descriptor> from, backend& io, page_cache_reader& cache)
      : file(std::move(path), info), from_(std::move(from)), io_(io), cache_(cache) {}

  std::ptrdiff_t try_read_at(std::uint64_t offset, char* to, std::size_t n) noexcept override {
    return cache_.read(from_->number, offset, to, n, cache_refused_);
  }
  std::uint64_t size_now() const noexcept override {
    struct stat s;
    return ::fstat(from_->number, &s) == 0 ? static_cast<std::uint64_t>(s.st_size) : size_bytes();
  }
  task<std::size_t> read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n) override;

 private:
  operation* new_read(std::uint64_t offset, const buffer_ref& to, std::size_t at, std::size_t n) const {
    auto* op = new operation(operation::kind::read);
    op->from = from_;
    op->to = to;
    op->at = at;
    op->length = std::min(n, kReadBytesMax);
    op->offset = offset;
    return op;
  }

  std::shared_ptr<descriptor> from_;
  backend& io_;
  page_cache_reader& cache_;
  std::atomic<bool> cache_refused_{false};
};

task<std::size_t> posix_file::read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n) {
  std::size_t done = 0;
  while (done < n) {
    std::int64_t got = try_read_at(offset + done, to->data() + at + done, n - done);
    if (got == -EAGAIN) {
      operation* op = new_read(offset + done, to, at + done, n - done);
      got = co_await perform(io_, op);
    }
    if (got == -EINTR) continue;
    if (got < 0) {
      status why = read_error(static_cast<int>(-got), path(), offset + done);
      co_await fail(std::move(why));
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  co_return done;
}

class posix_stream final : public file {
 public:
  posix_stream(std::string path, std::shared_ptr<descriptor> from, stream_backend& io)
      : file(std::move(path), info_of_stream()), from_(std::move(from)), io_(io) {}

  std::ptrdiff_t try_read_at(std::uint64_t, char*, std::size_t) noexcept override { return -EAGAIN; }
  std::uint64_t size_now() const noexcept override { return 0; }
  task<std::size_t> read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n) override;

 private:
  std::shared_ptr<descriptor> from_;
  stream_backend& io_;
};

task<std::size_t> posix_stream::read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n) {
  auto* op = new operation(operation::kind::read);
  op->from = from_;
  op->to = std::move(to);
  op->at = at;
  op->length = std::min(n, kReadBytesMax);
  std::int64_t got = co_await perform(io_, op);
  if (got < 0) {
    status why = read_error(static_cast<int>(-got), path(), offset);
    co_await fail(std::move(why));
  }
  co_return static_cast<std::size_t>(got);
}

/// ::stat on a thread of the back end.
struct stat_operation final : operation {
  stat_operation() : operation(kind::call) {}
  void run() noexcept override { result = ::stat(path.c_str(), &found) == 0 ? 0 : -errno; }
  struct stat found{};
};

thread_local int t_glob_error;  // glob's callback has no argument of ours
thread_local std::string* t_glob_folder;

int note_unreadable(const char* folder, int error_number) {
  if (t_glob_error == 0 && error_number != ENOENT && error_number != ENOTDIR) {
    t_glob_error = error_number;
    *t_glob_folder = folder;
  }
  return 0;
}

/// ::glob on a thread of the back end.
struct glob_operation final : operation {
  glob_operation() : operation(kind::call) {}
  void run() noexcept override {
    glob_t found{};
    t_glob_error = 0;
    t_glob_folder = &unreadable;
    int outcome = ::glob(path.c_str(), GLOB_NOSORT, note_unreadable, &found);
    for (std::size_t i = 0; outcome == 0 && i < found.gl_pathc; ++i) names.emplace_back(found.gl_pathv[i]);
    ::globfree(&found);
    result = -t_glob_error;
    if (outcome == GLOB_NOSPACE) result = -ENOMEM;
  }
  std::vector<std::string> names;
  std::string unreadable;
};

}  // namespace

result<std::unique_ptr<file>> posix_file_system::open_standard_input() {
  if (standard_input_taken_.exchange(true, std::memory_order_relaxed))
    return failed_precondition_error("has been opened before, and can be read once only").in_file("standard input");
  int fd =
      ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);  // its flags are shared with other processes: they stay as they are
  if (fd < 0) return errno_error(errno, "cannot open").in_file("standard input");
  auto from = std::make_shared<descriptor>(fd);
  return std::unique_ptr<file>(std::make_unique<posix_stream>("standard input", std::move(from), streams_));
}

task<std::unique_ptr<file>> posix_file_system::open(std::string path) {
  if (path == "-") {
    auto input = open_standard_input();
    if (!input.ok()) co_await fail(input.why());
    co_return *std::move(input);
  }
  auto* op = new operation(operation::kind::open);
  op->path = path;
  op->open_flags = kOpenFlags;
  std::int64_t got = co_await perform(*io_, op);
  if (got < 0) {
    status why = open_error(static_cast<int>(-got), path);
    co_await fail(std::move(why));
  }
  auto from = std::make_shared<descriptor>(static_cast<int>(got));
  struct stat s{};
  status why;
  if (::fstat(from->number, &s) != 0) why = errno_error(errno, "cannot stat").in_file(path);
  else if (!S_ISFIFO(s.st_mode)) why = check_regular(s.st_mode, path);
  if (!why.ok()) co_await fail(std::move(why));
  if (S_ISFIFO(s.st_mode) || is_made_up(from->number, s)) {
    std::unique_ptr<file> stream = std::make_unique<posix_stream>(std::move(path), std::move(from), streams_);
    co_return std::move(stream);
  }
  // io_uring answers reads on O_NONBLOCK files with EAGAIN instead of waiting.
  ::fcntl(from->number, F_SETFL, 0);
  ::posix_fadvise(from->number, 0, 0, POSIX_FADV_SEQUENTIAL);
  std::unique_ptr<file> opened =
      std::make_unique<posix_file>(std::move(path), info_of(s), std::move(from), *io_, cache_);
  co_return std::move(opened);
}

task<file_info> posix_file_system::stat(std::string path) {
  auto* op = new stat_operation;
  op->path = path;
  op->add_reference();
  std::unique_ptr<stat_operation, void (*)(stat_operation*)> keep(op, [](stat_operation* p) { p->drop_reference(); });
  std::int64_t got = co_await perform(*io_, op);
  status why;
  if (got < 0) why = open_error(static_cast<int>(-got), path);
  else if (S_ISFIFO(op->found.st_mode)) co_return info_of_stream();
  else why = check_regular(op->found.st_mode, path);
  if (!why.ok()) co_await fail(std::move(why));
  co_return info_of(op->found);
}

task<std::vector<std::string>> posix_file_system::glob(std::string pattern) {
  auto* op = new glob_operation;
  op->path = pattern;
  op->add_reference();
  std::unique_ptr<glob_operation, void (*)(glob_operation*)> keep(op, [](glob_operation* p) { p->drop_reference(); });
  std::int64_t got = co_await perform(*io_, op);
  status why;
  if (got == -ECANCELED) why = cancelled_error().in_file(pattern);
  else if (got < 0)
    why = errno_error(static_cast<int>(-got), absl::StrCat("cannot list for the pattern \"", pattern, "\""))
              .in_file(op->unreadable.empty() ? pattern : op->unreadable);
  else if (op->names.empty()) why = nothing_matches(pattern);
  if (!why.ok()) co_await fail(std::move(why));
  std::sort(op->names.begin(), op->names.end());
  co_return std::move(op->names);
}

}  // namespace sluice::lib::detail
