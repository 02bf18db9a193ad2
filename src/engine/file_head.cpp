// SPDX-License-Identifier: Apache-2.0
#include "engine/file_head.hpp"

#include <cerrno>
#include <fstream>

#include "io/file_router.hpp"
#include "io/plan_file_reader.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib {
namespace {

status inflate_head(compression packed, const std::string& from, bool last, std::size_t bytes_max, file_head& to) {
  inflater unpacking(packed);
  std::string_view input = from;
  to.bytes.resize(bytes_max);
  std::size_t have = 0;
  for (;;) {
    inflate_step s = unpacking.step(input, last, to.bytes.data() + have, bytes_max - have);
    if (!s.why.ok()) return s.why;
    input.remove_prefix(s.consumed);
    have += s.produced;
    to.is_all = s.ended;
    if (s.ended || have == bytes_max || (s.consumed == 0 && s.produced == 0)) break;
  }
  to.bytes.resize(have);
  return {};
}

result<std::string> read_local(const std::string& path, std::size_t bytes_max) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return errno_error(errno, "cannot open").in_file(path);
  std::string bytes(bytes_max, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (in.bad()) return errno_error(errno, "cannot read").in_file(path);
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

}  // namespace

result<file_head> read_file_head(const std::string& path, compression packed, std::size_t bytes_max) {
  auto read = detail::is_remote(path) ? detail::read_for_plan(path, bytes_max + 1)
                                      : read_local(detail::without_file_scheme(path), bytes_max + 1);
  if (!read.ok()) return read.why();
  file_head head;
  head.bytes = *std::move(read);
  head.is_all = head.bytes.size() <= bytes_max;
  if (packed == compression::automatic) packed = detect_compression(head.bytes, path);
  if (packed == compression::none) {
    head.bytes.resize(std::min(head.bytes.size(), bytes_max));
    return head;
  }
  file_head inflated;
  status why = inflate_head(packed, head.bytes, head.is_all, bytes_max, inflated);
  if (!why.ok()) return why.in_file(path);
  return inflated;
}

}  // namespace sluice::lib
