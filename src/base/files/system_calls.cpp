// SPDX-License-Identifier: Apache-2.0
#include "base/files/system_calls.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace sluice::lib {

int open_again(const std::string& path, int flags, unsigned mode) {
  int fd;
  do fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

bool read_all(int fd, std::size_t bytes_max, std::string& bytes) {
  constexpr std::size_t kPieceBytes = 16 << 10;
  for (;;) {
    std::size_t at = bytes.size();
    bytes.resize(at + kPieceBytes);
    auto n = ::read(fd, bytes.data() + at, kPieceBytes);
    int why = errno;
    bytes.resize(at + static_cast<std::size_t>(n > 0 ? n : 0));
    if (n < 0 && why == EAGAIN) {
      pollfd ready{fd, POLLIN, 0};
      ::poll(&ready, 1, -1);
    } else if (n < 0 && why != EINTR) {
      errno = why;
      return false;
    }
    if (n == 0) return true;
    if (bytes.size() > bytes_max) {
      errno = EFBIG;
      return false;
    }
  }
}

std::ptrdiff_t read_at(int fd, char* to, std::size_t n, std::uint64_t offset_bytes) {
  std::size_t done = 0;
  while (done != n) {
    auto got = ::pread(fd, to + done, n - done, static_cast<off_t>(offset_bytes + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<std::ptrdiff_t>(done);
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    auto n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::ptrdiff_t write_parts_at(int fd, const std::vector<std::string_view>& parts, std::uint64_t offset_bytes) {
  constexpr std::size_t kPartsMax = 1024;  // IOV_MAX of Linux
  std::vector<iovec> left;
  left.reserve(parts.size());
  for (std::string_view part : parts)
    if (!part.empty()) left.push_back({const_cast<char*>(part.data()), part.size()});
  std::size_t done = 0;
  for (std::size_t at = 0; at != left.size();) {
    const auto n = static_cast<int>(std::min(kPartsMax, left.size() - at));
    const auto one = ::pwritev(fd, &left[at], n, static_cast<off_t>(offset_bytes + done));
    if (one < 0 && errno == EINTR) continue;
    if (one == 0) errno = ENOSPC;
    if (one <= 0) return -1;
    auto written = static_cast<std::size_t>(one);
    done += written;
    while (at != left.size() && written >= left[at].iov_len) written -= left[at++].iov_len;
    if (written == 0) continue;
    left[at].iov_base = static_cast<char*>(left[at].iov_base) + written;
    left[at].iov_len -= written;
  }
  return static_cast<std::ptrdiff_t>(done);
}

bool try_lock(int fd) {
  int failed;
  do failed = ::flock(fd, LOCK_EX | LOCK_NB);
  while (failed && errno == EINTR);
  return !failed;
}

bool cut_file(int fd, std::uint64_t length_bytes) {
  int failed;
  do failed = ::ftruncate(fd, static_cast<off_t>(length_bytes));
  while (failed && errno == EINTR);
  return !failed;
}

bool sync_file(int fd) {
  int failed;
  do failed = ::fsync(fd);
  while (failed && errno == EINTR);
  return !failed || errno == EINVAL || errno == EROFS;
}

void begin_sync(int fd, std::uint64_t offset_bytes, std::uint64_t bytes) noexcept {
  ::sync_file_range(fd, static_cast<off_t>(offset_bytes), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
}

bool sync_folder(const std::string& folder) {
  int fd = open_again(folder, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return false;
  bool done = sync_file(fd);
  int why = errno;
  ::close(fd);
  errno = why;
  return done;
}

}  // namespace sluice::lib
