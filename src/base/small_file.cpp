// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/small_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/system_calls.hpp"

namespace sluice::lib {

result<std::string> read_small_file(const std::string& path, std::size_t bytes_max) {
  constexpr std::size_t kPieceBytes = 16 << 10;
  int fd = open_again(path, O_RDONLY);
  if (fd < 0) return errno_error(errno, "cannot read").in_file(path);
  std::string bytes;
  status why;
  for (;;) {
    std::size_t at = bytes.size();
    bytes.resize(at + kPieceBytes);
    auto n = ::read(fd, bytes.data() + at, kPieceBytes);
    int failure = errno;
    bytes.resize(at + static_cast<std::size_t>(n > 0 ? n : 0));
    if (n < 0 && failure == EINTR) continue;
    if (n < 0) why = errno_error(failure, "cannot read").in_file(path);
    if (bytes.size() > bytes_max)
      why = out_of_range_error("is longer than " + std::to_string(bytes_max) + " bytes").in_file(path);
    if (n <= 0 || !why.ok()) break;
  }
  ::close(fd);
  if (!why.ok()) return why;
  return bytes;
}

}  // namespace sluice::lib
