// SPDX-License-Identifier: Apache-2.0
#include "engine/files/file_tail.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "io/paths/file_router.hpp"
#include "io/paths/listed.hpp"
#include "io/plan_file_reader.hpp"

namespace sluice::lib {

result<std::string> read_file_tail(const std::string& path, std::uint64_t bytes_max, std::uint64_t& size_bytes) {
  if (detail::is_remote(path)) return detail::read_tail_for_plan(path, static_cast<std::size_t>(bytes_max), size_bytes);
  const std::string local = detail::without_file_scheme(path);
  std::ifstream in(local, std::ios::binary | std::ios::ate);
  if (!in) return detail::cannot_open(errno, local);
  const std::streamoff end = in.tellg();
  if (end < 0) return invalid_argument_error("its size is unknown, and it is read from its end").in_file(path);
  size_bytes = static_cast<std::uint64_t>(end);
  std::string bytes(static_cast<std::size_t>(std::min(size_bytes, bytes_max)), '\0');
  in.seekg(end - static_cast<std::streamoff>(bytes.size()));
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!in) return errno_error(errno, "cannot read").in_file(path);
  return bytes;
}

}  // namespace sluice::lib
