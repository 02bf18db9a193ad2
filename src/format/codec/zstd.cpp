// SPDX-License-Identifier: Apache-2.0
// zstd frames, and the skippable frames between them.
#include "format/codec/codec.hpp"

#if SLUICE_HAVE_ZSTD
#include <zstd.h>

#include <algorithm>
#include <new>
#endif

namespace sluice::lib::detail {

#if SLUICE_HAVE_ZSTD
namespace {

constexpr std::string_view kMagic = "\x28\xb5\x2f\xfd";
constexpr std::size_t kHeaderBytes = 18;                     // at most
constexpr std::size_t kStateBytes = std::size_t{192} << 10;  // a decoder without its buffers: 160 KiB of zstd 1.5
constexpr std::size_t kBlockBytes = std::size_t{128} << 10;
constexpr int kWindowLogMax =
    sizeof(void*) == 4 ? 30 : 31;  // all there are: whether there is memory for it, the caller says

struct frees_stream {
  void operator()(ZSTD_DStream* s) const { ::ZSTD_freeDStream(s); }
};

/// The window that a frame's header asks for (RFC 8878, 3.1.1.1); of a frame in a single segment that is its content.
std::uint64_t window_bytes(std::string_view in) {
  auto byte = [&](std::size_t i) { return i < in.size() ? std::uint64_t{static_cast<unsigned char>(in[i])} : 0; };
  const std::uint64_t flags = byte(4);
  const bool is_single_segment = (flags & 0x20) != 0;
  if (!is_single_segment) {
    const std::uint64_t base = std::uint64_t{1} << (10 + (byte(5) >> 3));
    return base + base / 8 * (byte(5) & 7);
  }
  constexpr std::size_t kDictionaryBytes[] = {0, 1, 2, 4}, kSizeBytes[] = {1, 2, 4, 8};
  const std::size_t at = 5 + kDictionaryBytes[flags & 3], n = kSizeBytes[flags >> 6];
  std::uint64_t size = n == 2 ? 256 : 0;
  for (std::size_t i = 0; i != n; ++i) size += byte(at + i) << (8 * i);
  return size;
}

class zstd_codec final : public codec {
 public:
  beginning begins(std::string_view in, bool last) const override {
    beginning b = begins_with(in, kMagic);
    if (b == beginning::no)
      return last && begins_skippable(in) == beginning::unknown ? beginning::yes : begins_skippable(in);
    if (last || b == beginning::no) return b == beginning::no ? b : beginning::yes;
    return in.size() < kHeaderBytes ? beginning::unknown : b;
  }
  std::string_view expected() const override { return "the bytes 28 b5 2f fd"; }
  std::size_t begin(std::string_view in) override {
    wants_ = kStateBytes;
    if (begins_with(in, kMagic) != beginning::yes) return wants_;
    const std::uint64_t window = window_bytes(in);
    constexpr std::uint64_t kMost = std::uint64_t{1} << 40;  // more than the library takes: it says so
    wants_ += static_cast<std::size_t>(std::min(window, kMost) + 2 * std::min<std::uint64_t>(window, kBlockBytes) + 64);
    return wants_;
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
    if (::ZSTD_isError(left)) p.broken = ::ZSTD_getErrorName(left);
    else p.ended = left == 0;
    return p;
  }

 private:
  std::size_t wants_ = 0;
  std::unique_ptr<ZSTD_DStream, frees_stream> stream_;
};

}  // namespace

std::unique_ptr<codec> new_zstd_codec() { return std::make_unique<zstd_codec>(); }
#else
std::unique_ptr<codec> new_zstd_codec() { return nullptr; }
#endif

}  // namespace sluice::lib::detail
