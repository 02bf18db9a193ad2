// SPDX-License-Identifier: Apache-2.0
#include "base/files/locked_target.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "base/files/system_calls.hpp"

namespace sluice::lib {
namespace {

/// A process that ends may remove its lock file between our open and our flock. This does not happen this number of
/// times in a row.
constexpr int kAttemptsMax = 1000;
constexpr int kLinksMax = 40;  // as many as the kernel follows
constexpr std::chrono::seconds kReaderWait{30};
constexpr std::string_view kPartial = ".partial";

/// Clears O_NONBLOCK, so that writes wait.
bool write_waits(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0;
}

/// A link may refer to a file that does not exist yet.
status follow_links(const std::string& path, std::filesystem::path& named) {
  std::error_code why;
  for (int links = 0; std::filesystem::is_symlink(named, why); ++links) {
    if (links == kLinksMax) return errno_error(ELOOP, "cannot create").in_file(path);
    std::filesystem::path to = std::filesystem::read_symlink(named, why);
    if (why) return errno_error(why.value(), "cannot follow the link").in_file(path);
    named = named.parent_path() / to;  // an absolute link replaces the path
  }
  return {};
}

bool lacks_locks(int why) { return why == ENOSYS || why == EOPNOTSUPP || why == ENOLCK; }

/// A file system without locks has no other writer that could be noticed.
bool try_flock(int fd) { return try_lock(fd) || lacks_locks(errno); }

}  // namespace

std::string lock_beside(const std::string& target) {
  std::filesystem::path full(target);
  std::string folder = full.has_parent_path() ? full.parent_path().string() : ".";
  return folder + "/." + full.filename().string() + ".lock";
}

status locked_target::resolve(const std::string& path, std::string& target) {
  std::error_code unknown;
  std::filesystem::path named(path);
  status why = follow_links(path, named);
  if (!why.ok()) return why;
  auto there = std::filesystem::canonical(named, unknown);
  target = unknown ? named.string() : there.string();
  return {};
}

status locked_target::take(std::string path) {
  path_ = std::move(path);
  status why = resolve(path_, target_);
  if (!why.ok()) return why;
  std::error_code unknown;
  const auto type = std::filesystem::status(target_, unknown).type();
  is_regular_ = type == std::filesystem::file_type::regular || type == std::filesystem::file_type::none ||
                type == std::filesystem::file_type::not_found;
  if (!is_regular_) return {};
  partial_ = target_ + std::string(kPartial);
  std::filesystem::path full(target_);
  folder_ = full.has_parent_path() ? full.parent_path().string() : ".";
  lock_.path = lock_beside(target_);
  why = hold(lock_);
  if (!why.ok() || !target_.ends_with(kPartial)) return why;
  whole_lock_.path = lock_beside(target_.substr(0, target_.size() - kPartial.size()));
  why = hold(whole_lock_);
  if (!why.ok()) lock_.release();
  return why;
}

status locked_target::hold(lock_file& lock) {
  for (int attempt = 0; attempt != kAttemptsMax; ++attempt) {
    // O_NONBLOCK: the open must not wait for the other end of a planted FIFO.
    lock.fd = open_again(lock.path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0644);
    int why_not = errno;
    // This process can lock another user's file, but cannot write its id to it.
    if (lock.fd < 0 && why_not == EACCES) lock.fd = open_again(lock.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (lock.fd < 0) {
      errno = why_not;
      return failed("cannot create");
    }
    struct stat is{};
    if (::fstat(lock.fd, &is) != 0) {
      status why = failed("cannot lock");
      ::close(std::exchange(lock.fd, -1));
      return why;
    }
    // A file with a second name may belong to anyone: do not write the process id there.
    if (!S_ISREG(is.st_mode) || is.st_nlink > 1) {
      ::close(std::exchange(lock.fd, -1));
      return failed_precondition_error("cannot lock: " + lock.path + " is no lock file: remove it").in_file(path_);
    }
    if (try_flock(lock.fd)) {
      if (!lock.is_still_named()) {  // the previous holder ended just now, and removed the name
        ::close(std::exchange(lock.fd, -1));
        continue;
      }
      std::string me = std::to_string(::getpid()) + "\n";
      if (!cut_file(lock.fd, 0) || !write_all(lock.fd, me))
        errno = 0;  // the file is locked, although it does not name the holder
      return {};
    }
    status why = errno == EWOULDBLOCK ? holder_of(lock) : failed("cannot lock");
    ::close(std::exchange(lock.fd, -1));
    return why;
  }
  return unavailable_error("cannot lock: other processes take the lock all the time").in_file(path_);
}

/// The lock is on an open file. It is useful only while others who open the name get that same file.
bool locked_target::lock_file::is_still_named() const {
  struct stat ours{}, named{};
  return ::fstat(fd, &ours) == 0 && ::lstat(path.c_str(), &named) == 0 && ours.st_ino == named.st_ino &&
         ours.st_dev == named.st_dev;
}

status locked_target::holder_of(const lock_file& lock) const {
  char text[32] = {};
  std::string who = "another process";
  auto n = ::pread(lock.fd, text, sizeof text - 1, 0);
  long pid = n > 0 ? std::strtol(text, nullptr, 10) : 0;
  if (pid > 0) who = "process " + std::to_string(pid);
  return unavailable_error("is being written by " + who + ": wait until it has ended, or name another path")
      .in_file(path_);
}

void locked_target::lock_file::release() noexcept {
  if (fd < 0) return;
  // Remove the name while the lock is held: a process that waits for the lock checks the name afterwards. Another
  // process may have put another file there.
  if (is_still_named()) ::unlink(path.c_str());
  ::close(std::exchange(fd, -1));
}

void locked_target::release() noexcept {
  whole_lock_.release();
  lock_.release();
}

status locked_target::create(int& fd) {
  struct stat old{};
  bool replaces = ::stat(target_.c_str(), &old) == 0;
  if (::unlink(partial_.c_str()) != 0 && errno != ENOENT) return failed("cannot remove the .partial file beside it");
  fd = open_again(partial_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, replaces ? 0600 : 0666);
  if (fd < 0) return failed("cannot create the .partial file beside it");
  if (!replaces) return {};
  // Set the group first, because a change of owner clears bits of the mode. A user who may not change the group keeps
  // their own, and then the group's bits would give that group access.
  unsigned mode = old.st_mode & 0777u;
  if (::fchown(fd, static_cast<uid_t>(-1), old.st_gid) != 0) mode &= ~070u;
  if (::fchmod(fd, mode) == 0) return {};
  status why = failed("cannot give the new file the mode of the old");
  ::close(std::exchange(fd, -1));
  discard();
  return why;
}

status locked_target::open_as_it_is(int& fd) {
  // A plain open of a FIFO would wait for a reader without limit, and nothing could end that wait.
  const auto until = std::chrono::steady_clock::now() + kReaderWait;
  do {
    fd = open_again(target_, O_WRONLY | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0) return write_waits(fd) ? status() : failed("cannot create");
    std::error_code ignored;
    if (errno != ENXIO || !std::filesystem::is_fifo(target_, ignored)) return failed("cannot create");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  } while (std::chrono::steady_clock::now() < until);
  return unavailable_error("no reader has opened this for half a minute").in_file(path_);
}

status locked_target::publish() {
  if (std::rename(partial_.c_str(), target_.c_str()) != 0) return failed("cannot rename into place");
  return sync_names();
}

status locked_target::withdraw() {
  if (std::rename(target_.c_str(), partial_.c_str()) != 0) return failed("cannot rename to add to it");
  return sync_names();
}

status locked_target::sync_names() { return sync_folder(folder_) ? status() : failed("cannot synchronise the folder"); }

void locked_target::discard() noexcept { ::unlink(partial_.c_str()); }

status locked_target::failed(const char* what) const {
  const int number = errno;
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  std::error_code unknown;
  if (number == ENOENT && !folder.empty() && !std::filesystem::exists(folder, unknown))
    return not_found_error(std::string(what) + ": the folder " + folder + " does not exist; create it: mkdir -p " +
                           folder)
        .in_file(path_);
  return errno_error(number, what).in_file(path_);
}

}  // namespace sluice::lib
