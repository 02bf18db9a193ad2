// SPDX-License-Identifier: Apache-2.0
// bzip2 streams.
#include "format/codec/byte_codec.hpp"

#if SLUICE_HAVE_BZIP2
#include <bzlib.h>

#include <algorithm>
#include <limits>
#include <new>
#endif

namespace sluice::lib::detail {

#if SLUICE_HAVE_BZIP2
namespace {

constexpr std::string_view kBzip2Magic = "BZh";
constexpr std::size_t kBzip2HeaderBytes = 4;
constexpr std::size_t kBzip2StateBytes = std::size_t{72} << 10;

std::string_view bzip2_reason(int code) {
  switch (code) {
    case BZ_DATA_ERROR_MAGIC: return "a block that begins with other bytes than a block does";
    case BZ_DATA_ERROR: return "its checksum is wrong, or a code that does not exist";
    default: return "it cannot be decoded";
  }
}

class bzip2_codec final : public decompressor {
 public:
  ~bzip2_codec() override { end(); }
  beginning begins(std::string_view in, bool last) const override {
    beginning b = begins_with(in, kBzip2Magic);
    if (b == beginning::no) return b;
    if (in.size() < kBzip2HeaderBytes) return last ? beginning::yes : beginning::unknown;
    return in[3] >= '1' && in[3] <= '9' ? beginning::yes : beginning::no;
  }
  std::string_view expected() const override { return "\"BZh\" and a digit"; }
  std::size_t begin(std::string_view in) override {
    end();
    const std::size_t level = in.size() < kBzip2HeaderBytes ? 0 : static_cast<std::size_t>(in[3] - '0');
    return kBzip2StateBytes + level * 4 * 100'000;
  }
  codec_progress go(std::string_view in, bool, char* out, std::size_t room) override {
    codec_progress p;
    if (!is_open_) {
      stream_ = {};
      if (::BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
      is_open_ = true;
    }
    constexpr std::size_t kPieceMax = std::numeric_limits<std::int32_t>::max();  // bzip2 counts in 32 bits
    const auto in_piece = static_cast<unsigned>(std::min(in.size(), kPieceMax));
    const auto out_piece = static_cast<unsigned>(std::min(room, kPieceMax));
    stream_.next_in = const_cast<char*>(in.data());  // the bytes are only read
    stream_.avail_in = in_piece;
    stream_.next_out = out;
    stream_.avail_out = out_piece;
    const int code = ::BZ2_bzDecompress(&stream_);
    p.consumed = in_piece - stream_.avail_in;
    p.produced = out_piece - stream_.avail_out;
    if (code == BZ_MEM_ERROR) throw std::bad_alloc();
    if (code == BZ_STREAM_END) {
      p.ended = true;
      end();
    } else if (code != BZ_OK) {
      p.broken = bzip2_reason(code);
    }
    return p;
  }

 private:
  void end() {
    if (is_open_) ::BZ2_bzDecompressEnd(&stream_);
    is_open_ = false;
  }
  bz_stream stream_{};
  bool is_open_ = false;
};

}  // namespace

std::unique_ptr<decompressor> new_bzip2_codec() { return std::make_unique<bzip2_codec>(); }
#else
std::unique_ptr<decompressor> new_bzip2_codec() { return nullptr; }
#endif

}  // namespace sluice::lib::detail
