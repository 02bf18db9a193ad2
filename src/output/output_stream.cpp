// SPDX-License-Identifier: Apache-2.0
#include "output/output_stream.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/files/system_calls.hpp"

namespace sluice::lib {
namespace {

/// How long an interrupted run waits for a reader that has received part of an element.
constexpr int kPatienceMs = 1000;

/// Returns the end of the next write. A pipe that poll reports as writable accepts PIPE_BUF bytes without blocking.
std::size_t end_of_piece(std::size_t at, std::size_t size, const std::vector<std::size_t>& ends) {
  std::size_t most = at + PIPE_BUF;
  if (size <= most) return size;
  auto after = std::upper_bound(ends.begin(), ends.end(), most);
  return after != ends.begin() && after[-1] > at ? after[-1] : most;
}

bool is_regular(int fd) {
  struct stat is{};
  return ::fstat(fd, &is) == 0 && S_ISREG(is.st_mode);
}

/// Returns the length of a regular file that is written in place: its end, or the descriptor's position.
off_t end_of(int fd) {
  struct stat is{};
  bool appends = (::fcntl(fd, F_GETFL) & O_APPEND) != 0;
  if (appends) return ::fstat(fd, &is) == 0 ? is.st_size : -1;
  return ::lseek(fd, 0, SEEK_CUR);
}

}  // namespace

output_stream::output_stream(int fd, std::string name, int stop_fd, bool owns)
    : fd_(fd), name_(std::move(name)), stop_fd_(stop_fd), owns_(owns), is_regular_(is_regular(fd)) {}

output_stream::~output_stream() {
  if (owns_) ::close(fd_);
}

status output_stream::wait(bool in_element) {
  pollfd fds[] = {{fd_, POLLOUT, 0}, {stop_fd_, POLLIN, 0}};
  while (::poll(fds, stop_fd_ < 0 ? 1 : 2, -1) < 0)
    if (errno != EINTR) return failed("cannot wait for");
  // Elements that can be written now are written even if a stop is requested, because they exist already.
  if (!fds[0].revents && in_element) ::poll(fds, 1, kPatienceMs);
  if (!fds[0].revents) return cancelled_error("stopped while no process read the output");
  return {};
}

status output_stream::write(std::string_view bytes, const std::vector<std::size_t>& ends, std::size_t& accepted) {
  accepted = 0;
  if (bytes.empty()) return {};  // a partly written element stays as it is
  status why = write_pieces(bytes, ends, accepted);
  auto after = std::upper_bound(ends.begin(), ends.end(), accepted);
  surplus_bytes_ = why.ok() ? 0 : accepted - (after == ends.begin() ? 0 : after[-1]);
  return why;
}

status output_stream::write_pieces(std::string_view bytes, const std::vector<std::size_t>& ends,
                                   std::size_t& accepted) {
  accepted = 0;
  while (accepted != bytes.size()) {
    std::size_t end = bytes.size();
    if (!is_regular_) {
      status why = wait(accepted != 0 && !std::binary_search(ends.begin(), ends.end(), accepted));
      if (!why.ok()) return why;
      end = end_of_piece(accepted, bytes.size(), ends);
    }
    auto n = ::write(fd_, bytes.data() + accepted, end - accepted);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) {
      closed_ = errno == EPIPE;
      return failed("cannot write to");
    }
    accepted += static_cast<std::size_t>(n);
  }
  return {};
}

/// Standard output is rarely open for reading as well.
int output_stream::open_readable() const {
  return open_again("/proc/self/fd/" + std::to_string(fd_), O_RDONLY | O_NONBLOCK);
}

bool output_stream::is_file_of(const output_place& from) const {
  struct stat is{};
  if (!is_regular_ || from.files.size() != 1 || ::fstat(fd_, &is) != 0) return false;
  return is.st_ino == from.files[0].inode && is.st_dev == static_cast<dev_t>(from.files[0].device);
}

status output_stream::resume(const output_place& from, std::uint64_t& cut_bytes) {
  struct stat is{};
  cut_bytes = 0;
  if (!is_file_of(from) || ::fstat(fd_, &is) != 0) return {};
  const std::uint64_t length_bytes = from.files[0].length_bytes;
  int fd = open_readable();
  if (fd < 0) return failed("cannot read back from");
  status why = check_place(fd, name_, from.path, from.files[0]);
  ::close(fd);
  if (!why.ok()) return why;
  cut_bytes = static_cast<std::uint64_t>(is.st_size) - length_bytes;
  if (!cut_file(fd_, length_bytes)) return failed("cannot cut back");
  bool appends = (::fcntl(fd_, F_GETFL) & O_APPEND) != 0;
  if (!appends && ::lseek(fd_, static_cast<off_t>(length_bytes), SEEK_SET) < 0) return failed("cannot cut back");
  return {};
}

status output_stream::reserve_head(std::size_t) {
  return unimplemented_error("this format's first bytes are written last: it needs a file of its own, not " + name_);
}
status output_stream::write_head(std::string_view) { return reserve_head(0); }

status output_stream::commit(shard_place& place) {
  if (!is_regular_) return {};
  struct stat is{};
  off_t end = end_of(fd_);
  end -= static_cast<off_t>(surplus_bytes_);
  if (!sync_file(fd_) || end < 0 || ::fstat(fd_, &is) != 0) return failed("cannot write to");
  int fd = open_readable();
  if (fd < 0) return {};  // then the output can be neither checked nor resumed
  std::uint32_t crc = 0;
  status why = read_tail_crc(fd, 0, static_cast<std::uint64_t>(end), crc);
  ::close(fd);
  if (!why.ok()) return why.in_file(name_);
  place.device = is.st_dev;
  place.inode = is.st_ino;
  place.length_bytes = static_cast<std::uint64_t>(end);
  place.tail_crc = crc;
  return {};
}

status output_stream::failed(const char* what) const { return errno_error(errno, std::string(what) + " " + name_); }

bool write_to_standard_output(std::string_view text) {
  output_stream out(STDOUT_FILENO, "standard output", -1, false);
  std::size_t accepted = 0;
  return out.write(text, {}, accepted).ok();
}

}  // namespace sluice::lib
