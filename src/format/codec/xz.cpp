// SPDX-License-Identifier: Apache-2.0
// xz streams, and the zeros between them.
#include "format/codec/byte_codec.hpp"

#if SLUICE_HAVE_XZ
#include <lzma.h>

#include <new>
#endif

namespace sluice::lib::detail {

#if SLUICE_HAVE_XZ
namespace {

constexpr std::string_view kXzMagic(
    "\xfd"
    "7zXZ\0",
    6);
constexpr std::size_t kXzPaddingBytes = 4;  // stream padding consists of groups of four
constexpr std::size_t kXzStateBytes = std::size_t{64} << 10;

std::string_view xz_reason(lzma_ret code) {
  switch (code) {
    case LZMA_FORMAT_ERROR: return "its first bytes are wrong";
    case LZMA_OPTIONS_ERROR: return "options that this library does not know";
    case LZMA_DATA_ERROR: return "its checksum is wrong, or a code that does not exist";
    case LZMA_UNSUPPORTED_CHECK: return "a checksum that this library does not know";
    default: return "it cannot be decoded";
  }
}

class xz_codec final : public decompressor {
 public:
  ~xz_codec() override { ::lzma_end(&stream_); }
  beginning begins(std::string_view in, bool last) const override {
    if (members_ != 0 && in[0] == '\0') {
      if (in.size() < kXzPaddingBytes) return last ? beginning::no : beginning::unknown;
      return in.starts_with(std::string_view("\0\0\0\0", kXzPaddingBytes)) ? beginning::padding : beginning::no;
    }
    beginning b = begins_with(in, kXzMagic);
    return b == beginning::unknown && last ? beginning::yes : b;
  }
  std::size_t padding_bytes(std::string_view) const override { return kXzPaddingBytes; }
  std::string_view expected() const override { return "the bytes fd 37 7a 58 5a 00"; }
  std::size_t begin(std::string_view) override {
    // The limit is the allowed memory; a block that needs more makes the library return LZMA_MEMLIMIT_ERROR.
    if (::lzma_stream_decoder(&stream_, allowed_, LZMA_TELL_UNSUPPORTED_CHECK) != LZMA_OK) throw std::bad_alloc();
    return kXzStateBytes;
  }
  void allow(std::size_t bytes) override {
    allowed_ = bytes;
    if (stream_.internal)
      ::lzma_memlimit_set(&stream_, allowed_);  // it refuses a limit below its use, and then keeps the old one
  }
  codec_progress go(std::string_view in, bool last, char* out, std::size_t room) override {
    codec_progress p;
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out);
    stream_.avail_out = room;
    const lzma_ret code = ::lzma_code(&stream_, LZMA_RUN);
    p.consumed = in.size() - stream_.avail_in;
    p.produced = room - stream_.avail_out;
    (void)last;
    switch (code) {
      case LZMA_OK: break;
      case LZMA_BUF_ERROR: break;  // twice in succession without progress: the caller handles it
      case LZMA_MEM_ERROR: throw std::bad_alloc();
      case LZMA_MEMLIMIT_ERROR: p.wants_bytes = static_cast<std::size_t>(::lzma_memusage(&stream_)); break;
      case LZMA_STREAM_END:
        p.ended = true;
        ++members_;
        break;
      default: p.broken = xz_reason(code);
    }
    return p;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  std::uint64_t allowed_ = UINT64_MAX;
  std::uint64_t members_ = 0;
};

}  // namespace

std::unique_ptr<decompressor> new_xz_codec() { return std::make_unique<xz_codec>(); }
#else
std::unique_ptr<decompressor> new_xz_codec() { return nullptr; }
#endif

}  // namespace sluice::lib::detail
