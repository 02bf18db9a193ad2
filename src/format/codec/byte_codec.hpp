// SPDX-License-Identifier: Apache-2.0
// The interface of a compressed format: how its members begin, and how one is decompressed. format/codec/inflate.cpp
// joins members to a stream, counts, and reports errors. Each format has a file beside this one.
//
// A format whose library is missing has a new_…_codec() that returns null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/format/seek_points.hpp"

namespace sluice::lib::detail {

/// The meaning of the bytes between two members.
enum class beginning : std::uint8_t {
  yes,      ///< a member
  no,       ///< not this format
  unknown,  ///< more bytes are needed to decide
  padding,  ///< decompressor::padding_bytes bytes that belong to no member
};

struct codec_progress {
  std::size_t consumed = 0, produced = 0;
  bool ended = false;           ///< the member is complete, and no byte after it was consumed
  bool is_followed = false;     ///< … but bytes after it were consumed before: no member can begin there
  std::size_t wants_bytes = 0;  ///< the codec must buffer this many bytes; it has done nothing
  std::string broken;           ///< the damage, to follow "…: " in a message; "": none
  std::string unread;           ///< what the sound stream needs, to follow "the stream "; "": nothing
};

class decompressor {
 public:
  virtual ~decompressor() = default;
  /// Classifies the bytes at which a member may begin; at least one exists.
  virtual beginning begins(std::string_view in, bool last) const = 0;
  virtual std::size_t padding_bytes(std::string_view) const { return 0; }
  /// Returns the first bytes of a member, for errors: "the bytes 28 b5 2f fd".
  virtual std::string_view expected() const = 0;
  /// Returns why a header with a correct beginning is refused; "": it is accepted.
  virtual std::string refused(std::string_view) const { return {}; }
  /// Returns true if members may follow each other.
  virtual bool joins() const { return true; }
  /// Starts a member at the next bytes. Returns the largest number of bytes buffered from now on, as far as `in` shows.
  virtual std::size_t begin(std::string_view in) = 0;
  /// Allows the codec to buffer this number of bytes. Called before begin().
  virtual void allow(std::size_t) {}
  /// Continues at a point of the file; `window`: its plain bytes before, inflated. Only called for points of its format.
  virtual void resume(const seek_point&, std::string_view window) { (void)window; }
  /// Reports points within members from now on; called before a member begins.
  virtual void note_points(seek_point_builder&) {}
  /// A member has begun at these offsets of the file. Called after begin() if points are noted.
  virtual void begun_at(std::uint64_t in_bytes, std::uint64_t out_bytes) { (void)in_bytes, (void)out_bytes; }
  /// Continues the member. `last`: no input follows.
  virtual codec_progress go(std::string_view in, bool last, char* out, std::size_t room) = 0;
};

std::unique_ptr<decompressor> new_gzip_codec();
std::unique_ptr<decompressor> new_zlib_codec();
std::unique_ptr<decompressor> new_zstd_codec();
std::unique_ptr<decompressor> new_lz4_codec();
std::unique_ptr<decompressor> new_snappy_codec();
std::unique_ptr<decompressor> new_snappy_blocks_codec();
std::unique_ptr<decompressor> new_bzip2_codec();
std::unique_ptr<decompressor> new_xz_codec();

/// Returns whether `in` begins with `magic`; unknown if `in` is too short.
inline beginning begins_with(std::string_view in, std::string_view magic) {
  if (in.size() >= magic.size()) return in.starts_with(magic) ? beginning::yes : beginning::no;
  return magic.starts_with(in) ? beginning::unknown : beginning::no;
}

inline std::uint32_t little32(std::string_view p) {
  auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(p[i])} << (8 * i); };
  return byte(0) | byte(1) | byte(2) | byte(3);
}

/// Returns whether `in` begins with a skippable frame of zstd and lz4: 0x184D2A50 to 0x184D2A5F.
inline beginning begins_skippable(std::string_view in) {
  if ((static_cast<unsigned char>(in[0]) & 0xf0) != 0x50) return beginning::no;
  return begins_with(in.substr(1), "\x2a\x4d\x18");
}

}  // namespace sluice::lib::detail
