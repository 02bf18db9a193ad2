// SPDX-License-Identifier: Apache-2.0
#include "engine/files/file_tail.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "io/paths/file_router.hpp"
#include "io/paths/listed.hpp"

namespace sluice::lib {

result<file_tail> read_file_tail(const std::string& path, std::uint64_t bytes, const tail_need& need) {
  if (detail::is_remote(path)) return detail::read_tail_for_plan(path, bytes, need);
  const std::string local = detail::without_file_scheme(path);
  std::ifstream in(local, std::ios::binary | std::ios::ate);
  if (!in) return detail::cannot_open(errno, local);
  const std::streamoff end = in.tellg();
  if (end < 0) return invalid_argument_error("its size is unknown, and it is read from its end").in_file(path);
  file_tail tail{{}, static_cast<std::uint64_t>(end), {}};
  for (bool may_need_more = need != nullptr;; may_need_more = false) {
    const auto n = static_cast<std::size_t>(std::min(tail.size_bytes, bytes));
    if (n > tail.bytes.size()) {
      tail.bytes.resize(n);
      in.seekg(end - static_cast<std::streamoff>(n));
      in.read(tail.bytes.data(), static_cast<std::streamsize>(n));
      if (!in) return errno_error(errno, "cannot read").in_file(path);
    }
    if (!may_need_more) return tail;
    bytes = need(tail);
  }
}

}  // namespace sluice::lib
