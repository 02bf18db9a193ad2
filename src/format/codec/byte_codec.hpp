// SPDX-License-Identifier: Apache-2.0
// What a compressed format is: how its members begin, and what undoes one. format/codec/inflate.cpp makes a stream out of members,
// counts, and says what is wrong; a format is one file beside this one.
//
// A format whose library is missing has a new_…_codec() that returns null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace sluice::lib::detail {

/// The meaning of the bytes between two members.
enum class beginning : std::uint8_t {
  yes,      ///< a member
  no,       ///< nothing of this format
  unknown,  ///< that shows with more of them
  padding,  ///< bytes that belong to no member: decompressor::padding_bytes of them
};

struct codec_progress {
  std::size_t consumed = 0, produced = 0;
  bool ended = false;           ///< the member is complete; nothing behind it was consumed
  bool is_followed = false;     ///< … but for bytes that were consumed before: no member can begin there
  std::size_t wants_bytes = 0;  ///< the codec must buffer this many bytes; it has done nothing
  std::string broken;           ///< not empty: what is damaged, to stand behind "…: "
};

class decompressor {
 public:
  virtual ~decompressor() = default;
  /// Classifies the bytes at which a member may begin; at least one exists.
  virtual beginning begins(std::string_view in, bool last) const = 0;
  virtual std::size_t padding_bytes(std::string_view) const { return 0; }
  /// The first bytes of a member, for errors: "the bytes 28 b5 2f fd".
  virtual std::string_view expected() const = 0;
  /// Why a header that begins rightly is refused all the same; empty: it is not.
  virtual std::string refused(std::string_view) const { return {}; }
  /// May members follow each other?
  virtual bool joins() const { return true; }
  /// Starts a member at the next bytes. Returns the largest number of bytes buffered from now on, as far as `in` shows.
  virtual std::size_t begin(std::string_view in) = 0;
  /// Allows the codec to buffer this number of bytes. Called before begin().
  virtual void allow(std::size_t) {}
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

/// Begins `in` with `magic`? Unknown: with as much of it as there is.
inline beginning begins_with(std::string_view in, std::string_view magic) {
  if (in.size() >= magic.size()) return in.starts_with(magic) ? beginning::yes : beginning::no;
  return magic.starts_with(in) ? beginning::unknown : beginning::no;
}

inline std::uint32_t little32(std::string_view p) {
  auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(p[i])} << (8 * i); };
  return byte(0) | byte(1) | byte(2) | byte(3);
}

/// A skippable frame of zstd and lz4: 0x184D2A50 to 0x184D2A5F.
inline beginning begins_skippable(std::string_view in) {
  if ((static_cast<unsigned char>(in[0]) & 0xf0) != 0x50) return beginning::no;
  return begins_with(in.substr(1), "\x2a\x4d\x18");
}

}  // namespace sluice::lib::detail
