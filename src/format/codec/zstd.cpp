// SPDX-License-Identifier: Apache-2.0
// zstd frames, and the skippable frames between them.
#include "format/codec/byte_codec.hpp"

#if SLUICE_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <new>
#include <string>
#endif

namespace sluice::lib::detail {

#if SLUICE_HAVE_ZSTD
namespace {

constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
constexpr std::size_t kZstdHeaderBytes = 18;                     // at most
constexpr std::size_t kZstdStateBytes = std::size_t{192} << 10;  // a decoder without its buffers: 160 KiB in zstd 1.5
constexpr std::size_t kZstdBlockBytes = std::size_t{128} << 10;
constexpr int kWindowLogMax =
    sizeof(void*) == 4 ? 30 : 31;  // the maximum: the caller decides whether memory is available

struct frees_zstd_stream {
  void operator()(ZSTD_DStream* s) const { ::ZSTD_freeDStream(s); }
};

constexpr std::uint64_t kZstdUnknown = ~std::uint64_t{0};

/// The fields of a frame's header (RFC 8878, 3.1.1.1).
struct zstd_frame_header {
  std::uint64_t window_bytes = 0;
  std::uint64_t content_bytes = kZstdUnknown;
  std::uint64_t dictionary = 0;  ///< its number; 0: none, or one that the header does not name
};

zstd_frame_header zstd_header_of(std::string_view in) {
  auto byte = [&](std::size_t i) { return i < in.size() ? std::uint64_t{static_cast<unsigned char>(in[i])} : 0; };
  const std::uint64_t flags = byte(4);
  const bool is_single_segment = (flags & 0x20) != 0;  // the window is then the content, and has no field
  constexpr std::size_t kDictionaryBytes[] = {0, 1, 2, 4}, kSizeBytes[] = {0, 2, 4, 8};
  const std::size_t dictionary_at = 5 + (is_single_segment ? 0 : 1);
  const std::size_t at = dictionary_at + kDictionaryBytes[flags & 3];
  const std::size_t n = is_single_segment ? std::max<std::size_t>(1, kSizeBytes[flags >> 6]) : kSizeBytes[flags >> 6];
  zstd_frame_header h;
  for (std::size_t i = dictionary_at; i != at; ++i) h.dictionary += byte(i) << (8 * (i - dictionary_at));
  if (n != 0 && at + n <= in.size()) {
    h.content_bytes = n == 2 ? 256 : 0;
    for (std::size_t i = 0; i != n; ++i) h.content_bytes += byte(at + i) << (8 * i);
  }
  const std::uint64_t base = std::uint64_t{1} << (10 + (byte(5) >> 3));
  if (!is_single_segment) h.window_bytes = base + base / 8 * (byte(5) & 7);
  else if (h.content_bytes != kZstdUnknown) h.window_bytes = h.content_bytes;
  return h;
}

class zstd_codec final : public decompressor {
 public:
  beginning begins(std::string_view in, bool last) const override {
    beginning b = begins_with(in, kZstdMagic);
    if (b == beginning::no)
      return last && begins_skippable(in) == beginning::unknown ? beginning::yes : begins_skippable(in);
    if (last || b == beginning::no) return b == beginning::no ? b : beginning::yes;
    return in.size() < kZstdHeaderBytes ? beginning::unknown : b;
  }
  std::string_view expected() const override { return "the bytes 28 b5 2f fd"; }
  std::size_t begin(std::string_view in) override {
    header_ = {};
    given_ = 0;
    if (begins_with(in, kZstdMagic) != beginning::yes) return kZstdStateBytes;
    header_ = zstd_header_of(in);
    const std::uint64_t window = header_.window_bytes;
    if (window > std::uint64_t{1} << kWindowLogMax)
      return kZstdStateBytes;  // the library refuses the frame and allocates nothing
    return kZstdStateBytes +
           static_cast<std::size_t>(window + 2 * std::min<std::uint64_t>(window, kZstdBlockBytes) + 64);
  }
  codec_progress go(std::string_view in, bool, char* out, std::size_t room) override {
    codec_progress p;
    if (!stream_) {
      stream_.reset(::ZSTD_createDStream());
      if (!stream_) throw std::bad_alloc();
      ::ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kWindowLogMax);
    }
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out, room, 0};
    const std::size_t left = ::ZSTD_decompressStream(stream_.get(), &to, &from);
    p.consumed = from.pos;
    p.produced = to.pos;
    given_ += to.pos;
    if (::ZSTD_getErrorCode(left) == ZSTD_error_dictionary_wrong) p.unread = wanted_dictionary();
    else if (::ZSTD_isError(left)) p.broken = ::ZSTD_getErrorName(left);
    else p.ended = left == 0;
    // The library checks the size only if it gets the whole frame at once.
    if (p.ended && header_.content_bytes != kZstdUnknown && given_ != header_.content_bytes)
      p.broken = "the length of its content differs from its header";
    return p;
  }

 private:
  std::string wanted_dictionary() const {
    const std::string number = header_.dictionary == 0 ? "" : " " + std::to_string(header_.dictionary);
    return "needs the dictionary" + number + ", and sluice reads none: `zstd -dc -D DICTIONARY FILE` decompresses it";
  }

  zstd_frame_header header_;
  std::uint64_t given_ = 0;
  std::unique_ptr<ZSTD_DStream, frees_zstd_stream> stream_;
};

}  // namespace

std::unique_ptr<decompressor> new_zstd_codec() { return std::make_unique<zstd_codec>(); }
#else
std::unique_ptr<decompressor> new_zstd_codec() { return nullptr; }
#endif

}  // namespace sluice::lib::detail
