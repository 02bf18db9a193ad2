// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/small_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/files/system_calls.hpp"

namespace sluice::lib {

result<std::string> read_small_file(const std::string& path, std::size_t bytes_max) {
  int fd = open_again(path, O_RDONLY);
  if (fd < 0) return errno_error(errno, "cannot read").in_file(path);
  std::string bytes;
  bool is_read = read_all(fd, bytes_max, bytes);
  int why = errno;
  ::close(fd);
  if (is_read) return bytes;
  if (why == EFBIG) return out_of_range_error("is longer than " + std::to_string(bytes_max) + " bytes").in_file(path);
  return errno_error(why, "cannot read").in_file(path);
}

}  // namespace sluice::lib
