// SPDX-License-Identifier: Apache-2.0
#include "engine/files/file_head.hpp"

#include <cerrno>
#include <fstream>

#include "format/codec/compression_suffix.hpp"
#include "io/paths/file_router.hpp"
#include "io/paths/listed.hpp"
#include "io/plan_file_reader.hpp"

namespace sluice::lib {
namespace {

void inflate_head(compression packed, inflate_limits limits, const std::string& from, bool last, std::size_t bytes_max,
                  file_head& to) {
  inflater unpacking(packed, limits);
  std::string_view input = from;
  to.bytes.resize(bytes_max);
  std::size_t have = 0;
  for (;;) {
    inflate_step s = unpacking.step(input, last, to.bytes.data() + have, bytes_max - have);
    input.remove_prefix(s.consumed);
    have += s.produced;
    to.is_all = s.ended;
    to.cut = s.why;
    if (s.ended || !s.why.ok() || have == bytes_max || (s.consumed == 0 && s.produced == 0)) break;
  }
  to.bytes.resize(have);
}

result<std::string> read_local(const std::string& path, std::size_t bytes_max) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return detail::cannot_open(errno, path);
  std::string bytes(bytes_max, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (in.bad()) return errno_error(errno, "cannot read").in_file(path);
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

}  // namespace

result<file_head> read_file_head(const std::string& path, compression packed, std::size_t bytes_max,
                                 inflate_limits limits) {
  auto read = detail::is_remote(path) ? detail::read_for_plan(path, bytes_max + 1)
                                      : read_local(detail::without_file_scheme(path), bytes_max + 1);
  if (!read.ok()) return read.why();
  file_head head;
  head.bytes = *std::move(read);
  head.is_all = head.bytes.size() <= bytes_max;
  const bool is_detected = packed == compression::automatic;
  if (is_detected) packed = detect_compression(head.bytes, path);
  if (is_detected && packed == compression::none)
    if (status fits = check_compression_suffix(head.bytes, path); !fits.ok()) return fits;
  if (packed == compression::none) {
    head.bytes.resize(std::min(head.bytes.size(), bytes_max));
    return head;
  }
  file_head inflated;
  inflate_head(packed, limits, head.bytes, head.is_all, bytes_max, inflated);
  if (!inflated.cut.ok()) inflated.cut = inflated.cut.in_file(path);
  if (!inflated.cut.ok() && inflated.bytes.empty()) return inflated.cut;
  return inflated;
}

}  // namespace sluice::lib
