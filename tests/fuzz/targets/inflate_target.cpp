// SPDX-License-Identifier: Apache-2.0
// gzip and zlib against zlib itself.
#include <algorithm>

#include "format/compressed.hpp"
#include "fuzz/target.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib::fuzz {
namespace {

constexpr std::size_t kPlainMax = 1 << 20;  // a bomb of a few bytes would take most of the time

struct reading {
  std::string plain;
  bool sound = false;
  bool too_long = false;
  std::size_t used_bytes = 0;
};

/// One stream at the start of `bytes`. window_bits: 15 zlib, 31 gzip, -15 without header and checksum.
reading inflate_one(std::string_view bytes, int window_bits) {
  reading r;
  // Made once: its memory costs more than most inputs.
  static z_stream z = [] {
    z_stream made{};
    if (inflateInit2(&made, 15) != Z_OK) std::abort();
    return made;
  }();
  if (inflateReset2(&z, window_bits) != Z_OK) std::abort();
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  std::string room(1 << 14, '\0');
  int code = Z_OK;
  while (code == Z_OK && !r.too_long) {
    z.next_out = reinterpret_cast<Bytef*>(room.data());
    z.avail_out = static_cast<uInt>(room.size());
    code = ::inflate(&z, Z_NO_FLUSH);
    r.plain.append(room, 0, room.size() - z.avail_out);
    r.too_long = r.plain.size() > kPlainMax;
  }
  r.sound = code == Z_STREAM_END;
  r.used_bytes = bytes.size() - z.avail_in;
  return r;
}

/// A whole file: gzip may have several members; only zeros may follow the last, which pad the blocks of a tape.
reading expected(compression f, std::string_view file) {
  reading whole;
  whole.sound = true;
  while (whole.used_bytes != file.size() && whole.sound && !whole.too_long) {
    if (f == compression::zlib && whole.used_bytes != 0) {
      whole.sound = false;
      break;
    }
    if (whole.used_bytes != 0 && file.find_first_not_of('\0', whole.used_bytes) == file.npos) break;
    auto one = inflate_one(file.substr(whole.used_bytes), f == compression::zlib ? 15 : 31);
    whole.plain += one.plain;
    whole.sound = one.sound;
    whole.too_long = one.too_long || whole.plain.size() > kPlainMax;
    whole.used_bytes += one.used_bytes;
  }
  return whole;
}

reading inflate_all(compression f, std::string_view file, std::size_t in_piece, std::size_t out_piece) {
  reading r;
  inflater z(f);
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
    r.used_bytes = at;
    r.too_long = r.plain.size() > kPlainMax;
    if (!s.why.ok()) expect(s.why.code() == status_code::data_loss, "damage is told as " + s.why.to_string());
    if (!s.why.ok() || r.too_long) return r;
    if (s.ended) {
      expect(at == file.size(), "a stream ended before its file");
      r.sound = true;
      return r;
    }
    if (have == 0 || (s.consumed == 0 && s.produced == 0)) {
      std::size_t more = std::min(in_piece, file.size() - at - have);
      expect(more != 0 || s.consumed != 0 || s.produced != 0, "a last step neither ends nor goes on");
      have += more;
    }
  }
}

std::string little(std::uint32_t n) {
  std::string s;
  for (int i = 0; i != 4; ++i) s += static_cast<char>(n >> (8 * i));
  return s;
}
std::uint32_t big(std::uint32_t n) { return __builtin_bswap32(n); }

/// Header and checksum around deflated bytes: the plain bytes decide the checksum, so mutations get past it.
std::string wrapped(compression f, std::string_view deflated, const std::string& plain) {
  auto* data = reinterpret_cast<const Bytef*>(plain.data());
  auto size = static_cast<uInt>(plain.size());
  if (f == compression::zlib)
    return std::string("\x78\x9c") + std::string(deflated) +
           little(big(static_cast<std::uint32_t>(adler32(adler32(0, nullptr, 0), data, size))));
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + std::string(deflated) +
         little(static_cast<std::uint32_t>(crc32(0, data, size))) + little(size);
}

/// The file that an input stands for.
std::string file_of(input& in, compression f, int mode) {
  if (mode == 0) return std::string(in.rest());
  if (mode == 1) {  // deflated bytes, with what belongs around them
    std::string_view deflated = in.rest();
    auto plain = inflate_one(deflated, -15);
    return wrapped(f, deflated.substr(0, plain.used_bytes), plain.plain);
  }
  // Compressed by zlib: members, each of its own level, window and content; then damage.
  std::string file;
  int members = 1 + in.byte() % 3;
  auto damage = in.byte();
  auto damage_at = in.number(2);
  for (int i = 0; i != members; ++i) {
    auto how = in.byte();
    int window_bits = 9 + how % 7;
    std::string plain(in.take(in.byte()));
    if (how & 0x80) plain.append(in.byte() * std::size_t{64}, 'x');
    file += testing::compressed(plain, f == compression::zlib ? window_bits : window_bits + 16, how >> 3 & 7);
    if (f == compression::zlib) break;
  }
  if (damage % 4 == 1) file[damage_at % file.size()] = static_cast<char>(damage);
  if (damage % 4 == 2) file.resize(damage_at % file.size());
  if (damage % 4 == 3) file += in.rest();
  return file;
}

}  // namespace

void inflate(std::string_view bytes) {
  input in(bytes);
  auto modes = in.byte();
  std::size_t in_piece = 1 + in.byte() * std::size_t{modes & 0x10 ? 16u : 1u};
  std::size_t out_piece = 1 + in.byte() * std::size_t{modes & 0x20 ? 256u : 1u};
  auto format = modes & 1 ? compression::zlib : compression::gzip;
  std::string file = file_of(in, format, modes >> 1 & 3);
  detect_compression(std::string_view(file).substr(0, 12));
  auto want = expected(format, file);
  auto got = inflate_all(format, file, in_piece, out_piece);
  if (want.too_long || got.too_long) return;
  expect(got.sound == want.sound, want.sound ? "a sound file is refused" : "a damaged file passes");
  if (want.sound) expect(got.plain == want.plain, "the plain bytes differ");
  auto at_once = inflate_all(format, file, file.size() + 1, 1 << 16);
  expect(at_once.sound == want.sound && (!want.sound || at_once.plain == want.plain), "the file at once differs");
}

}  // namespace sluice::lib::fuzz
