// SPDX-License-Identifier: Apache-2.0
#include "io/local/posix_file_system.hpp"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/files/whole_file.hpp"
#include "io/local/folder_walk.hpp"
#include "io/local/posix_file.hpp"
#include "io/local/read_flags.hpp"
#include "io/paths/listed.hpp"
#include "io/shared_call.hpp"
#include "sluice/coro/stop_token.hpp"

namespace sluice::lib::detail {

namespace {

// O_NONBLOCK, so that opening a FIFO without a writer does not hang. It is cleared again for regular files.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

/// A reference to an operation, for its results besides `result`.
class kept_operation {
 public:
  explicit kept_operation(operation* op) noexcept : op_(op) {}
  kept_operation(const kept_operation&) = delete;
  ~kept_operation() { op_->drop_reference(); }

 private:
  operation* op_;
};

/// The size up to which the kernel reads the whole file ahead anyway.
constexpr std::uint64_t kSmallBytes = std::uint64_t{128} << 10;

file_info info_of(const struct stat& s) {
  file_info info;
  info.size_bytes = static_cast<std::uint64_t>(s.st_size);
  info.modified_ns = s.st_mtim.tv_sec * std::int64_t{1'000'000'000} + s.st_mtim.tv_nsec;
  info.inode = s.st_ino;
  info.device = s.st_dev;
  return info;
}

/// Returns true for files that the kernel creates when they are read. They report size 0, and only reading shows their
/// length.
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
  info.is_stream = true;  // without a size
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

/// Returns ok for a regular file.
status check_regular(mode_t mode, const std::string& path) {
  if (S_ISREG(mode)) return {};
  return invalid_argument_error(absl::StrCat("is ", kind_of(mode), ", and only files, FIFOs and - can be read"))
      .in_file(path);
}

status open_error(int error_number, const std::string& path) {
  if (status early = ended_early(-error_number, "opened"); !early.ok()) return early.in_file(path);
  struct stat s;
  // A socket cannot be opened. The message names the type instead of quoting ENXIO's text.
  if (error_number == ENXIO && ::stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode))
    return check_regular(s.st_mode, path);
  return cannot_open(error_number, path);
}

class posix_stream final : public file {
 public:
  posix_stream(std::string path, std::shared_ptr<descriptor> from, stream_backend& io)
      : file(std::move(path), info_of_stream()), from_(std::move(from)), io_(io) {}

  ready_read try_read_at(std::uint64_t, char*, std::size_t) noexcept override { return {.must_wait = true}; }
  std::uint64_t size_now() const noexcept override { return file_info::kUnknownSize; }
  task<std::size_t> read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n,
                            time_point deadline) override;

 private:
  std::shared_ptr<descriptor> from_;
  stream_backend& io_;
};

task<std::size_t> posix_stream::read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n,
                                        time_point deadline) {
  auto* op = new operation(operation::kind::read);
  op->from = from_;
  op->to = std::move(to);
  op->at = at;
  op->length = std::min(n, kReadBytesMax);
  std::int64_t got = co_await perform(io_, op, deadline);
  if (got < 0) {
    status why = read_error(static_cast<int>(-got), path(), offset);
    co_await fail(std::move(why));
  }
  co_return static_cast<std::size_t>(got);
}

/// ::stat of one path, or of each path of a page.
struct stat_call {
  std::string path;
  struct stat found{};
  std::int64_t operator()() noexcept { return ::stat(path.c_str(), &found) == 0 ? 0 : -errno; }
};

struct stat_page_call {
  std::vector<listed_file> page;
  std::int64_t operator()() noexcept {
    for (listed_file& f : page) {
      struct stat s;
      if (::stat(f.path.c_str(), &s) != 0) continue;
      if (S_ISREG(s.st_mode)) f.info = info_of(s);
      else if (S_ISFIFO(s.st_mode)) f.info = info_of_stream();
    }
    return 0;
  }
};

/// One page of a walk. The call shares it with its listing, because it may continue after the listing's deadline.
struct walk_call {
  std::shared_ptr<folder_walk> walk;
  std::size_t most;
  std::vector<std::string> names = {};
  std::int64_t operator()() { return -walk->add_matches(names, most); }
};

class posix_listing final : public listing {
 public:
  posix_listing(std::string pattern, list_options o, backend& io)
      : walk_(std::make_shared<folder_walk>(std::move(pattern))), options_(o), io_(io) {}
  task<std::vector<listed_file>> next(time_point deadline) override;

 private:
  static constexpr std::size_t kPage = 4096;
  const std::string& pattern() const { return walk_->pattern(); }
  task<std::vector<std::string>> find(time_point deadline);

  std::shared_ptr<folder_walk> walk_;
  list_options options_;
  backend& io_;
  status failed_;  ///< the listing has ended: a call may still continue the walk
  bool is_any_given_ = false;
};

task<std::vector<std::string>> posix_listing::find(time_point deadline) {
  std::vector<std::string> names;
  while (names.empty() && failed_.ok() && !walk_->is_done()) {
    shared_call<walk_call> call(walk_call{walk_, kPage});
    std::int64_t got = co_await call.on(io_, deadline);
    failed_ = ended_early(got, "listed").in_file(pattern());
    if (!failed_.ok()) break;
    if (got < 0)
      failed_ = errno_error(static_cast<int>(-got), absl::StrCat("cannot list for the pattern \"", pattern(), "\""))
                    .in_file(walk_->where());
    names = std::move(call->names);
  }
  if (failed_.ok() && names.empty() && !is_any_given_) failed_ = nothing_matches(pattern());
  if (!failed_.ok()) {
    status why = failed_;
    co_await fail(std::move(why));
  }
  is_any_given_ = true;
  co_return std::move(names);
}

task<std::vector<listed_file>> posix_listing::next(time_point deadline) {
  auto finding = find(deadline);
  std::vector<std::string> names = co_await finding;
  stat_page_call page;
  page.page.reserve(names.size());
  for (std::string& name : names) page.page.push_back({std::move(name), std::nullopt});
  if (!options_.with_info || names.empty()) co_return std::move(page.page);
  shared_call<stat_page_call> call(std::move(page));
  std::int64_t got = co_await call.on(io_, deadline);
  status why = ended_early(got, "listed").in_file(pattern());
  if (!why.ok()) co_await fail(std::move(why));
  co_return std::move(call->page);
}

/// A whole_file, each of whose calls blocks a thread of the back end. The call in progress shares it.
class posix_writer final : public file_writer {
 public:
  posix_writer(std::string path, std::shared_ptr<whole_file> to, backend& io)
      : path_(std::move(path)), to_(std::move(to)), io_(io) {}
  task<> write(buffer_ref from, std::size_t at, std::size_t n, time_point deadline) override;
  task<file_info> commit(time_point deadline) override;

 private:
  std::string path_;
  std::shared_ptr<whole_file> to_;
  backend& io_;
};

// Each call releases its reference to the file before its result is known, so that dropping the writer drops the file.
struct begin_call {
  std::string path;
  std::shared_ptr<whole_file> to;
  status why = {};
  std::int64_t operator()() {
    auto share = std::move(to);
    why = share->begin(path);
    return 0;
  }
};

struct write_call {
  std::shared_ptr<whole_file> to;
  buffer_ref from;
  std::size_t at = 0, n = 0;
  status why = {};
  std::int64_t operator()() {
    auto share = std::move(to);
    why = share->write({from->data() + at, n});
    return 0;
  }
};

struct commit_call {
  std::string path;
  std::shared_ptr<whole_file> to;
  struct stat found{};
  status why = {};
  std::int64_t operator()() {
    auto share = std::move(to);
    why = share->finish();
    return why.ok() && ::stat(path.c_str(), &found) != 0 ? -errno : 0;
  }
};

/// Returns the result of a writer's call.
template <class Call> status outcome_of(std::int64_t got, shared_call<Call>& call, const std::string& path) {
  if (status early = ended_early(got, "written"); !early.ok()) return early.in_file(path);
  if (got < 0) return errno_error(static_cast<int>(-got), "cannot write").in_file(path);
  return call->why;
}

task<> posix_writer::write(buffer_ref from, std::size_t at, std::size_t n, time_point deadline) {
  shared_call<write_call> call(write_call{to_, std::move(from), at, n});
  std::int64_t got = co_await call.on(io_, deadline);
  status why = outcome_of(got, call, path_);
  if (!why.ok()) co_await fail(std::move(why));
}

task<file_info> posix_writer::commit(time_point deadline) {
  shared_call<commit_call> call(commit_call{path_, to_});
  std::int64_t got = co_await call.on(io_, deadline);
  status why = outcome_of(got, call, path_);
  if (!why.ok()) co_await fail(std::move(why));
  file_info info = info_of(call->found);
  co_return std::move(info);
}

}  // namespace

result<std::unique_ptr<file>> posix_file_system::open_standard_input() {
  if (standard_input_taken_.exchange(true, std::memory_order_relaxed))
    return failed_precondition_error("has been opened before, and can be read once only").in_file("standard input");
  int fd =
      ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);  // other processes share its flags, which therefore stay unchanged
  if (fd < 0) return errno_error(errno, "cannot open").in_file("standard input");
  auto from = std::make_shared<descriptor>(fd);
  return std::unique_ptr<file>(std::make_unique<posix_stream>("standard input", std::move(from), streams_));
}

task<posix_file_system::opened> posix_file_system::open_descriptor(std::string path, int flags, open_options o) {
  opened got;
  // A head that is probably not cached is read by the back end as it opens the file; a cached one is read here.
  const bool with_head = o.head && o.head_bytes != 0 && !(flags & O_DIRECT) && cache_.expects_misses();
  environment* env = co_await this_environment();
  got.fd = env->stop.stop_requested() ? -ECANCELED : with_head ? -EAGAIN : here_.open(path, flags);
  if (got.fd != -EAGAIN) {
    if (got.fd >= 0 && ::fstat(static_cast<int>(got.fd), &got.found) != 0) got.stat_error = errno;
    co_return got;
  }
  auto* op = new open_operation;
  op->path = path;
  op->open_flags = flags;
  if (with_head) {
    op->to = o.head;
    op->length = o.head_bytes;
    if (o.cache == page_cache::drop) op->read_flags = kDontCache;
  }
  op->add_reference();  // perform() owns the awaiter's reference
  kept_operation keep(op);
  got.fd = co_await perform(*io_, op, o.deadline);
  if (got.fd < 0) co_return got;
  got.found = op->found;
  got.stat_error = op->stat_error;
  got.head_bytes = op->head_bytes;
  here_.opened(path, static_cast<int>(got.fd));
  co_return got;
}

task<std::unique_ptr<file>> posix_file_system::open(std::string path, open_options o) {
  if (path == "-") {
    auto input = open_standard_input();
    if (!input.ok()) co_await fail(input.why());
    co_return *std::move(input);
  }
  auto opening = open_descriptor(path, kOpenFlags | (o.cache == page_cache::direct ? O_DIRECT : 0), o);
  opened got = co_await opening;
  if (got.fd == -EINVAL && o.cache == page_cache::direct) {  // this file system does not support such reads
    o.cache = page_cache::drop;
    auto once_more = open_descriptor(path, kOpenFlags, o);
    got = co_await once_more;
  }
  if (got.fd < 0) {
    status why = open_error(static_cast<int>(-got.fd), path);
    co_await fail(std::move(why));
  }
  auto from = std::make_shared<descriptor>(static_cast<int>(got.fd));
  const struct stat& s = got.found;
  status why;
  if (got.stat_error != 0) why = errno_error(got.stat_error, "cannot stat").in_file(path);
  else if (!S_ISFIFO(s.st_mode)) why = check_regular(s.st_mode, path);
  const bool is_stream = why.ok() && (S_ISFIFO(s.st_mode) || is_made_up(from->number, s));
  file_info info = is_stream ? info_of_stream() : info_of(s);
  if (why.ok() && o.known && *o.known != info) why = another_file(path);
  if (!why.ok()) co_await fail(std::move(why));
  if (is_stream) {
    std::unique_ptr<file> stream = std::make_unique<posix_stream>(std::move(path), std::move(from), streams_);
    co_return std::move(stream);
  }
  // io_uring answers reads on O_NONBLOCK files with EAGAIN instead of waiting.
  if (got.head_bytes < info.size_bytes) ::fcntl(from->number, F_SETFL, o.cache == page_cache::direct ? O_DIRECT : 0);
  if (info.size_bytes > kSmallBytes) ::posix_fadvise(from->number, 0, 0, POSIX_FADV_SEQUENTIAL);
  std::unique_ptr<file> opened = std::make_unique<posix_file>(std::move(path), std::move(info), std::move(from), *io_,
                                                              cache_, o.cache, got.head_bytes);
  co_return std::move(opened);
}

task<file_info> posix_file_system::stat(std::string path, time_point deadline) {
  shared_call<stat_call> call(stat_call{path});
  std::int64_t got = co_await call.on(*io_, deadline);
  status why;
  if (got < 0) why = open_error(static_cast<int>(-got), path);
  else if (S_ISFIFO(call->found.st_mode)) co_return info_of_stream();
  else why = check_regular(call->found.st_mode, path);
  if (!why.ok()) co_await fail(std::move(why));
  co_return info_of(call->found);
}

std::unique_ptr<listing> posix_file_system::list(std::string pattern, list_options o) {
  return std::make_unique<posix_listing>(std::move(pattern), o, *io_);
}

task<std::unique_ptr<file_writer>> posix_file_system::create(std::string path, time_point deadline) {
  auto to = std::make_shared<whole_file>();
  shared_call<begin_call> call(begin_call{path, to});
  std::int64_t got = co_await call.on(*io_, deadline);
  status why = outcome_of(got, call, path);
  if (!why.ok()) co_await fail(std::move(why));
  std::unique_ptr<file_writer> writer = std::make_unique<posix_writer>(std::move(path), std::move(to), *io_);
  co_return std::move(writer);
}

}  // namespace sluice::lib::detail
