// SPDX-License-Identifier: Apache-2.0
// gzip and zlib, decompressed by ISA-L.
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <limits>

#include "format/codec/byte_codec.hpp"
#include "format/codec/deflate_blocks.hpp"
#include "format/codec/deflate_header.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib::detail {
namespace {

std::string_view deflate_reason(int code) {
  switch (code) {
    case ISAL_INVALID_BLOCK: return "a block type that does not exist";
    case ISAL_INVALID_SYMBOL: return "a code that does not exist";
    case ISAL_INVALID_LOOKBACK: return "a reference to before the beginning";
    case ISAL_INVALID_WRAPPER: return "a damaged header";
    case ISAL_UNSUPPORTED_METHOD: return "a compression method that is not deflate";
    case ISAL_INCORRECT_CHECKSUM: return "its checksum is wrong";
    case ISAL_NEED_DICT: return "it needs a dictionary";
    default: return "it cannot be decoded";
  }
}

class deflate_codec : public decompressor {
 public:
  /// `flag_within`: that of a member whose header was read before.
  deflate_codec(std::uint32_t flag, std::uint32_t flag_within) : flag_(flag), flag_within_(flag_within) {}
  std::size_t begin(std::string_view) override {
    ::isal_inflate_init(&stream_);
    stream_.crc_flag = flag_;
    used_bits_ = 0;
    return inflater::kBytes;
  }
  void resume(const seek_point& p, std::string_view window) override {
    ::isal_inflate_init(&stream_);
    stream_.crc_flag = flag_within_;
    stream_.crc = p.checksum;
    stream_.total_out = static_cast<std::uint32_t>(p.member_bytes);
    ::isal_inflate_set_dict(&stream_, reinterpret_cast<std::uint8_t*>(const_cast<char*>(window.data())),
                            static_cast<std::uint32_t>(window.size()));
    used_bits_ = p.used_bits;
  }
  void note_points(seek_point_builder& to) override { blocks_ = std::make_unique<deflate_blocks>(to); }
  void begun_at(std::uint64_t in_bytes, std::uint64_t out_bytes) override {
    if (blocks_) blocks_->begin(in_bytes, out_bytes);
  }
  codec_progress go(std::string_view in, bool, char* out, std::size_t room) override {
    codec_progress p;
    const std::size_t first = take_used_bits(in) ? 1 : 0;
    in.remove_prefix(first);
    if (blocks_) in = in.substr(0, blocks_->until_place(stream_, in));
    constexpr std::size_t kPieceMax = std::numeric_limits<std::int32_t>::max();  // ISA-L counts in 32 bits
    const auto in_piece = static_cast<std::uint32_t>(std::min(in.size(), kPieceMax));
    const auto out_piece = static_cast<std::uint32_t>(std::min(room, kPieceMax));
    stream_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(in.data()));  // the bytes are only read
    stream_.avail_in = in_piece;
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out);
    stream_.avail_out = out_piece;
    const int code = ::isal_inflate(&stream_);
    // At an error in a damaged stream ISA-L may consume one byte more than its input, and avail_in wraps around.
    p.consumed = stream_.avail_in > in_piece ? in_piece : in_piece - stream_.avail_in;
    p.produced = out_piece - stream_.avail_out;
    if (blocks_) blocks_->note(stream_, p.consumed, {out, p.produced});
    p.consumed += first;
    if (code < 0 || code == ISAL_NEED_DICT) p.broken = deflate_reason(code);
    else if (stream_.block_state == ISAL_BLOCK_FINISH) p.ended = true;
    // ISA-L may have read bytes after the end into its bit buffer, which has up to eight bytes. zlib's checksum takes
    // four of them, so up to three would be lost.
    if (!p.ended) return p;
    const auto behind = static_cast<std::size_t>(stream_.read_in_length / 8);
    p.is_followed = behind != 0;
    p.consumed -= std::min(p.consumed, behind);
    return p;
  }

 private:
  /// Takes the bits of the first byte that belong to the place where the stream is resumed.
  bool take_used_bits(std::string_view in) {
    if (used_bits_ == 0 || in.empty()) return false;
    stream_.read_in = static_cast<unsigned char>(in[0]) >> used_bits_;
    stream_.read_in_length = static_cast<std::int32_t>(8 - used_bits_);
    used_bits_ = 0;
    return true;
  }

  std::uint32_t flag_, flag_within_;
  std::uint32_t used_bits_ = 0;             ///< of the next byte
  std::unique_ptr<deflate_blocks> blocks_;  ///< null: no points are noted
  inflate_state stream_;
};
static_assert(sizeof(deflate_codec) + 512 <= inflater::kBytes, "what an inflater is charged for");

class gzip_codec final : public deflate_codec {
 public:
  gzip_codec() : deflate_codec(ISAL_GZIP, ISAL_GZIP_NO_HDR_VER) {}
  beginning begins(std::string_view in, bool last) const override {
    // the padding of a tape's block, which gzip skips, too
    if (has_begun_ && in[0] == '\0') return beginning::padding;
    beginning b = begins_with(in, kGzipMagic);
    if (b == beginning::unknown && last) return beginning::yes;  // the file is truncated
    if (b == beginning::yes && in.size() <= kGzipFlagsAt && !last)
      return beginning::unknown;  // the flags have not arrived yet
    return b;
  }
  std::size_t padding_bytes(std::string_view in) const override {
    return std::min(in.find_first_not_of('\0'), in.size());
  }
  std::size_t begin(std::string_view in) override {
    has_begun_ = true;
    return deflate_codec::begin(in);
  }
  void resume(const seek_point& p, std::string_view window) override {
    has_begun_ = true;
    if (p.is_within_member) deflate_codec::resume(p, window);
  }
  std::string_view expected() const override { return "the bytes 1f 8b"; }
  std::string refused(std::string_view in) const override {
    return has_reserved_gzip_flags(in) ? "flags that are reserved: it is damaged, or newer" : "";
  }

 private:
  bool has_begun_ = false;  ///< a member has begun
};

class zlib_codec final : public deflate_codec {
 public:
  zlib_codec() : deflate_codec(ISAL_ZLIB, ISAL_ZLIB_NO_HDR_VER) {}
  beginning begins(std::string_view in, bool last) const override {
    if (in.size() < 2) return last ? beginning::yes : beginning::unknown;
    return is_zlib_header(in) ? beginning::yes : beginning::no;
  }
  std::string_view expected() const override { return "78 and a byte that makes it a multiple of 31"; }
  bool joins() const override { return false; }
};

}  // namespace

std::unique_ptr<decompressor> new_gzip_codec() { return std::make_unique<gzip_codec>(); }
std::unique_ptr<decompressor> new_zlib_codec() { return std::make_unique<zlib_codec>(); }

}  // namespace sluice::lib::detail
