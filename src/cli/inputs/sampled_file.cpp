// SPDX-License-Identifier: Apache-2.0
// The first bytes of files and streams, by which their formats are detected.
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <string>

#include "base/text/byte_order_mark.hpp"
#include "cli/inputs/file_kind.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "io/paths/file_router.hpp"
#include "io/plan_file_reader.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib::cli {
namespace {

/// Waits a short time until a pipe has `wanted` bytes, or its writer is gone: a writer may send a few bytes first.
void wait_for_bytes(int fd, int wanted) {
  constexpr int kWaits = 20, kWaitMs = 5;
  pollfd ready{fd, POLLIN, 0};
  while (::poll(&ready, 1, -1) < 0 && errno == EINTR) {}
  for (int n = 0; n != kWaits && (ready.revents & POLLHUP) == 0; ++n) {
    int available = 0;
    if (::ioctl(fd, FIONREAD, &available) != 0 || available >= wanted) return;
    pollfd gone{fd, 0, 0};  // POLLHUP is always reported
    ::poll(&gone, 1, kWaitMs);
    ready.revents = gone.revents;
  }
}

/// Returns true if a pipe's writer is gone, and the pipe has `bytes` bytes.
bool has_ended_after(int fd, int bytes) {
  pollfd gone{fd, 0, 0};
  if (::poll(&gone, 1, 0) < 0 || (gone.revents & POLLHUP) == 0) return false;
  int available = 0;
  return ::ioctl(fd, FIONREAD, &available) == 0 && available == bytes;
}

/// Returns the first bytes that an open descriptor would read next, without consuming them: a pipe's bytes are
/// duplicated. `is_all`: set to true if no bytes follow.
std::string beginning_of_descriptor(int fd, std::size_t bytes_max, bool& is_all) {
  std::string bytes(bytes_max, '\0');
  struct stat is{};
  ssize_t n = 0;
  is_all = false;
  if (::fstat(fd, &is) == 0 && S_ISREG(is.st_mode)) {
    const off_t at = ::lseek(fd, 0, SEEK_CUR);
    n = ::pread(fd, bytes.data(), bytes.size(), at);
    is_all = n >= 0 && at + n >= is.st_size;
  } else if (int copy[2]; S_ISFIFO(is.st_mode) && ::pipe2(copy, O_CLOEXEC) == 0) {
    wait_for_bytes(fd, static_cast<int>(std::min<std::size_t>(bytes.size(), kKindHeadBytes)));
    n = ::tee(fd, copy[1], bytes.size(), SPLICE_F_NONBLOCK);
    if (n > 0) n = ::read(copy[0], bytes.data(), static_cast<std::size_t>(n));
    is_all = n >= 0 && has_ended_after(fd, static_cast<int>(n));
    ::close(copy[0]);
    ::close(copy[1]);
  } else if (S_ISSOCK(is.st_mode)) {
    do n = ::recv(fd, bytes.data(), bytes.size(), MSG_PEEK);
    while (n < 0 && errno == EINTR);
  }
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  return bytes;
}

std::string beginning_of_file(const std::string& path, std::size_t bytes_max, bool& is_all) {
  is_all = false;
  if (detail::is_remote(path)) {  // if it cannot be read, the plan reports the reason when it runs
    auto begin = detail::read_for_plan(path, bytes_max);
    return begin.ok() ? *std::move(begin) : std::string();
  }
  std::string bytes(bytes_max, '\0');
  std::ifstream in(detail::without_file_scheme(path), std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  is_all = in.eof();
  return bytes;
}

/// Returns the last bytes of a local file; empty for other files.
std::string end_of_file(const std::string& path, std::size_t bytes_max) {
  if (!is_file(path)) return {};
  std::ifstream in(detail::without_file_scheme(path), std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::streamoff>(in.tellg());
  if (!in || size <= 0) return {};
  const auto n = std::min(size, static_cast<std::streamoff>(bytes_max));
  std::string bytes(static_cast<std::size_t>(n), '\0');
  in.seekg(size - n);
  in.read(bytes.data(), n);
  return in ? bytes : std::string();
}

/// Returns the last bytes of data that end in their sample; empty for others.
std::string end_of_head(const sampled_file& s) {
  if (!s.is_all) return {};
  return s.head.substr(s.head.size() - std::min(s.head.size(), kKindTailBytes));
}

/// Returns the descriptor of standard input or of an inherited pipe (`<(…)` of a shell is /dev/fd/63); -1: none.
int descriptor_of(const std::string& path) {
  if (path == "-" || path == "/dev/stdin") return STDIN_FILENO;
  for (std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char* end = path.data() + path.size();
    auto read = std::from_chars(path.data() + folder.size(), end, number);
    if (read.ec == std::errc() && read.ptr == end) return number;
  }
  return -1;
}

/// Enough compressed bytes for a whole block of every format: bzip2 and xz decompress nothing before that.
constexpr std::size_t kBlockBytes = std::size_t{2} << 20;
/// A pipe holds this number of bytes.
constexpr std::size_t kPipeBytes = std::size_t{64} << 10;

/// Decompresses the beginning of `bytes`.
std::string decompressed(compression c, std::string_view bytes, bool& is_all) {
  std::string plain(kKindHeadBytes, '\0');
  auto step = inflater(c).step(bytes, is_all, plain.data(), plain.size());
  is_all = is_all && step.ended;
  plain.resize(step.produced);
  return plain;
}

}  // namespace

sampled_file sample_of(const std::string& path, compression c) {
  sampled_file s;
  s.path = path;
  const int fd = names_file(path) ? -1 : descriptor_of(path);
  if (names_file(path)) s.head = beginning_of_file(path, kKindHeadBytes, s.is_all);
  else if (fd >= 0) s.head = beginning_of_descriptor(fd, kPipeBytes, s.is_all);
  if (c == compression::automatic)
    c = detect_compression(std::string_view(s.head).substr(0, kCompressionGuessBytes), path);
  if (c == compression::none) {
    s.tail = names_file(path) ? end_of_file(path, kKindTailBytes) : end_of_head(s);
    return s;
  }
  s.is_packed = true;
  bool is_all = s.is_all;
  std::string plain = decompressed(c, s.head, is_all);
  if (plain.empty() && !s.is_all && names_file(path)) {
    is_all = false;
    plain = decompressed(c, beginning_of_file(path, kBlockBytes, is_all), is_all);
  }
  s.head = std::move(plain);
  s.is_all = is_all;
  s.tail = end_of_head(s);
  return s;
}

bool is_blank(const sampled_file& s) {
  return s.is_all && s.head.find_first_not_of("\r\n", detail::byte_order_mark_bytes(s.head)) == s.head.npos;
}

bool is_compressed(const std::string& file) {
  bool is_all = false;
  const std::string begin = names_file(file) ? beginning_of_file(file, kCompressionGuessBytes, is_all) : std::string();
  return detect_compression(begin, file) != compression::none;
}

std::string beginning_of_stream(const std::string& path, bool& is_all) {
  is_all = false;
  const int fd = descriptor_of(path);
  return fd < 0 ? std::string() : beginning_of_descriptor(fd, kPipeBytes, is_all);
}

}  // namespace sluice::lib::cli
