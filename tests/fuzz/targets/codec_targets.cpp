// SPDX-License-Identifier: Apache-2.0
// The framing of every codec beside gzip and zlib (inflate_target.cpp): any bytes, packed bytes that are damaged, and members one after
// the other, in pieces and at once.
#include <algorithm>

#include "format/packed.hpp"
#include "fuzz/target.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib::fuzz {
namespace {

constexpr std::size_t kPlainMax = 1 << 20;  // a bomb of a few bytes would take most of the time
constexpr std::size_t kHeldMax = 16 << 20;

struct reading {
  std::string plain;
  bool sound = false, is_too_large = false;
};

reading undo(compression c, std::string_view file, std::size_t in_piece, std::size_t out_piece) {
  reading r;
  inflater z(c, {.bytes_max = kPlainMax, .held_max = kHeldMax});
  std::string out(out_piece, '\0');
  std::size_t at = 0, have = std::min(in_piece, file.size());
  for (;;) {
    std::string window(file.substr(at, have));  // its own allocation, so that ASan sees a read beyond it
    window.shrink_to_fit();
    auto s = z.step(window, at + have == file.size(), out.data(), out.size());
    expect(s.consumed <= window.size() && s.produced <= out.size(), "a step took or gave more than there was");
    r.plain.append(out, 0, s.produced);
    at += s.consumed;
    have -= s.consumed;
    expect(z.in_bytes() == at && z.out_bytes() == r.plain.size(), "a step counts wrongly");
    expect(z.held_bytes() <= kHeldMax, "it holds more than it may");
    r.is_too_large = s.wants_bytes != 0 || r.plain.size() >= kPlainMax;
    // Other bytes may also be the number of a dictionary, which no stream can be read without.
    const bool needs_dictionary = s.why.message().find("dictionary") != std::string_view::npos;
    const status_code expected = needs_dictionary ? status_code::unimplemented : status_code::data_loss;
    if (!s.why.ok()) expect(s.why.code() == expected, "damage is reported as " + s.why.to_string());
    if (!s.why.ok() || r.is_too_large) return r;
    if (s.ended) {
      expect(at == file.size(), "a stream ended before its file");
      r.sound = true;
      return r;
    }
    if (have == 0 || (s.consumed == 0 && s.produced == 0)) {
      const std::size_t more = std::min(in_piece, file.size() - at - have);
      expect(more != 0 || s.consumed != 0 || s.produced != 0, "a last step neither ends nor goes on");
      have += more;
    }
  }
}

void codec(compression c, std::string_view bytes) {
  if (!is_built_in(c)) return;
  input in(bytes);
  const auto modes = in.byte();
  const std::size_t in_piece = 1 + in.byte() * std::size_t{modes & 0x10 ? 16u : 1u};
  const std::size_t out_piece = 1 + in.byte() * std::size_t{modes & 0x20 ? 256u : 1u};
  std::string file, plain;
  if (modes % 4 == 0) {
    file = in.rest();
  } else {
    const auto damage = in.byte();
    const auto damage_at = in.number(2);
    for (int members = 1 + modes / 4 % 3; members != 0; --members) {
      std::string part(in.take(in.byte()));
      const auto how = in.byte();
      if (how & 0x80) part.append(in.byte() * std::size_t{64}, 'x');
      file += testing::packed(c, part, how % (c == compression::xz ? 3 : 10));
      plain += part;
    }
    if (modes % 4 == 2) file[damage_at % file.size()] = static_cast<char>(damage);
    if (modes % 4 == 3) file.resize(damage_at % file.size());
  }
  detect_compression(file);
  const reading pieces = undo(c, file, in_piece, out_piece);
  if (modes % 4 == 1 && !pieces.is_too_large)
    expect(pieces.sound && pieces.plain == plain, "packed bytes do not come back");
  const reading whole = undo(c, file, file.size() + 1, 1 << 16);
  if (pieces.is_too_large || whole.is_too_large) return;
  expect(whole.sound == pieces.sound, "in pieces and at once a file is sound and damaged");
  if (whole.sound) expect(whole.plain == pieces.plain, "in pieces other bytes come than at once");
}

}  // namespace

void codec_zstd(std::string_view bytes) { codec(compression::zstd, bytes); }
void codec_lz4(std::string_view bytes) { codec(compression::lz4, bytes); }
void codec_snappy(std::string_view bytes) { codec(compression::snappy, bytes); }
void codec_snappy_blocks(std::string_view bytes) { codec(compression::snappy_blocks, bytes); }
void codec_bzip2(std::string_view bytes) { codec(compression::bzip2, bytes); }
void codec_xz(std::string_view bytes) { codec(compression::xz, bytes); }

}  // namespace sluice::lib::fuzz
