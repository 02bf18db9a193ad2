// SPDX-License-Identifier: Apache-2.0
#include "service/wire/packed_frames.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>

#include "coro/long_work.hpp"
#include "format/codec/buffer_codec.hpp"
#include "service/wire/element_frames.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/base/crc32c.hpp"

namespace sluice::lib {
namespace {

constexpr int kFrameZstdLevel = 1;
/// The fewest bytes of a compressed part: its size, and the head and the end of a frame of the codec.
constexpr std::uint64_t kPartBytesMin = 12;

void append_u32(std::string& to, std::uint32_t n) { to.append(reinterpret_cast<const char*>(&n), sizeof n); }
/// Removes a number from the front. Returns false if there is none.
bool take_u32(std::string_view& from, std::uint32_t& n) {
  if (from.size() < sizeof n) return false;
  std::memcpy(&n, from.data(), sizeof n);
  from.remove_prefix(sizeof n);
  return true;
}

status unpack_part(frame_codec c, zstd_frames& zstd, std::string_view part, char* out, std::size_t bytes) {
  if (c == frame_codec::lz4) return inflate_buffer(compression::lz4, part, out, bytes);
  return zstd.inflate(part, out, bytes);
}

status damaged_frame(std::string_view why) {
  return data_loss_error(absl::StrCat("a compressed frame of elements is damaged: ", std::string(why)));
}

}  // namespace

std::string_view name_of(frame_codec c) { return c == frame_codec::zstd ? "zstd" : "lz4"; }

std::optional<frame_codec> frame_codec_named(std::string_view name) {
  if (name == "zstd") return frame_codec::zstd;
  if (name == "lz4") return frame_codec::lz4;
  return std::nullopt;
}

const std::vector<frame_codec>& frame_codecs() {
  static const auto* const known = new std::vector<frame_codec>{
#if SLUICE_HAVE_ZSTD
      frame_codec::zstd,
#endif
#if SLUICE_HAVE_LZ4
      frame_codec::lz4,
#endif
  };
  return *known;
}

task<status> frame_packer::pack(frame_codec c, std::string_view frame, std::string& out) {
  long_work work;
  out.assign(1, element_frame::packed);
  out += static_cast<char>(c);
  append_frame_number(frame.size(), out);
  append_u32(out, crc32c(frame));
  while (!frame.empty()) {
    const std::string_view part = frame.substr(0, packed_frame::kPartBytes);
    const std::size_t at = out.size();
    append_u32(out, 0);
    const status why =
        c == frame_codec::lz4 ? deflate_buffer(compression::lz4, part, out) : zstd_.deflate(part, kFrameZstdLevel, out);
    if (!why.ok()) co_return why;
    const auto size = static_cast<std::uint32_t>(out.size() - at - sizeof(std::uint32_t));
    std::memcpy(out.data() + at, &size, sizeof size);
    frame.remove_prefix(part.size());
    co_await work.breath();
  }
  co_return status();
}

bool packed_frame::is_one(std::string_view bytes) { return !bytes.empty() && bytes.front() == element_frame::packed; }

result<packed_frame> packed_frame::read(std::string_view bytes, std::uint64_t bytes_max) {
  packed_frame f;
  const auto codec = bytes.size() < 2 ? 0 : static_cast<unsigned char>(bytes[1]);
  if (!is_one(bytes) || codec < 1 || codec > 2) return damaged_frame("it has no known codec");
  f.codec = static_cast<frame_codec>(codec);
  if (std::find(frame_codecs().begin(), frame_codecs().end(), f.codec) == frame_codecs().end())
    return unimplemented_error(
        absl::StrCat("this build has no ", std::string(name_of(f.codec)), ", in which the frame is compressed"));
  bytes.remove_prefix(2);
  if (!take_frame_number(bytes, f.raw_bytes) || !take_u32(bytes, f.crc))
    return damaged_frame("it ends within its head");
  const std::uint64_t parts = f.raw_bytes / kPartBytes + (f.raw_bytes % kPartBytes != 0);
  if (f.raw_bytes == 0 || f.raw_bytes > bytes_max || parts > bytes.size() / kPartBytesMin)
    return damaged_frame(absl::StrCat("its head states ", f.raw_bytes, " bytes, and ", bytes.size(), " follow"));
  f.parts = bytes;
  return f;
}

task<result<slice>> unpack_frame(packed_frame f) {
  long_work work;
  buffer_ref room(buffer::make(static_cast<std::size_t>(f.raw_bytes)));
  zstd_frames zstd;
  std::uint64_t at = 0;
  std::string_view left = f.parts;
  while (at != f.raw_bytes) {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(packed_frame::kPartBytes, f.raw_bytes - at));
    std::uint32_t size = 0;
    if (!take_u32(left, size) || size > left.size()) co_return damaged_frame("it ends within a part");
    const status why = unpack_part(f.codec, zstd, left.substr(0, size), room->data() + at, bytes);
    if (!why.ok()) co_return damaged_frame(why.message());
    left.remove_prefix(size);
    at += bytes;
    co_await work.breath();
  }
  if (!left.empty()) co_return damaged_frame("bytes follow its last part");
  const std::string_view raw(room->data(), static_cast<std::size_t>(f.raw_bytes));
  if (crc32c(raw) != f.crc) co_return damaged_frame("its checksum is wrong");
  if (packed_frame::is_one(raw)) co_return damaged_frame("it contains another one");
  const char* const data = raw.data();
  co_return slice(room.release(), data, raw.size());
}

}  // namespace sluice::lib
