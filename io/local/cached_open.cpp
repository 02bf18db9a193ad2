// SPDX-License-Identifier: Apache-2.0
#include "io/local/cached_open.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "sluice/base/hash.hpp"

namespace sluice::lib::detail {
namespace {

#ifdef RESOLVE_CACHED
constexpr std::uint64_t kResolveCached = RESOLVE_CACHED;
#else
constexpr std::uint64_t kResolveCached = 0x20;
#endif
constexpr std::uint32_t kXfsMagic = 0x58465342;  // linux/magic.h lacks it

/// Returns true if the file system opens files without asking another process or machine.
bool is_local(int fd) {
  struct statfs home;
  if (::fstatfs(fd, &home) != 0) return false;
  constexpr std::array<std::uint32_t, 5> kLocal = {EXT4_SUPER_MAGIC, kXfsMagic, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
                                                   TMPFS_MAGIC};
  return std::find(kLocal.begin(), kLocal.end(), static_cast<std::uint32_t>(home.f_type)) != kLocal.end();
}

std::uint64_t folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return stable_hash(path.substr(0, slash == path.npos ? 0 : slash + 1));
}

}  // namespace

std::int64_t cached_open::open(const std::string& path, int flags) noexcept {
  if (!usable_.load(std::memory_order_relaxed)) return -EAGAIN;
  {
    absl::ReaderMutexLock lock(&mutex_);
    if (!local_.contains(folder_of(path))) return -EAGAIN;
  }
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = kResolveCached;
  const long fd = ::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how);
  if (fd >= 0) return fd;
  // The error is permanent: an old kernel, a kernel without this flag, or a sandbox. The back end reports the error of
  // any other open.
  if (errno == ENOSYS || errno == EPERM || (errno == EINVAL && !(flags & O_DIRECT)))
    usable_.store(false, std::memory_order_relaxed);
  return -EAGAIN;
}

void cached_open::opened(const std::string& path, int fd) {
  if (!usable_.load(std::memory_order_relaxed)) return;
  const std::uint64_t folder = folder_of(path);
  {
    absl::ReaderMutexLock lock(&mutex_);
    if (local_.size() >= kFoldersMax || local_.contains(folder)) return;
  }
  if (!is_local(fd)) return;
  absl::MutexLock lock(&mutex_);
  local_.insert(folder);
}

}  // namespace sluice::lib::detail
