// SPDX-License-Identifier: Apache-2.0
#include "engine/file_head.hpp"

#include <cerrno>
#include <fstream>

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

}  // namespace

result<file_head> read_file_head(const std::string& path, compression packed, std::size_t bytes_max) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return errno_error(errno, "cannot open").in_file(path);
  file_head head;
  head.bytes.resize(bytes_max + 1);
  in.read(head.bytes.data(), static_cast<std::streamsize>(head.bytes.size()));
  if (in.bad()) return errno_error(errno, "cannot read").in_file(path);
  head.bytes.resize(static_cast<std::size_t>(in.gcount()));
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
