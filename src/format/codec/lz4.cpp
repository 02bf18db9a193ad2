// SPDX-License-Identifier: Apache-2.0
// lz4 frames, and the skippable frames between them. Blocks without frames have no signature, so they cannot be
// detected.
#include "format/codec/byte_codec.hpp"

#if SLUICE_HAVE_LZ4
#include <lz4frame.h>

#include <new>
#endif

namespace sluice::lib::detail {

#if SLUICE_HAVE_LZ4
namespace {

constexpr std::string_view kLz4Magic = "\x04\x22\x4d\x18";
constexpr std::string_view kLz4LegacyMagic = "\x02\x21\x4c\x18";  // of `lz4 -l`, which has no checksums and is refused
constexpr std::size_t kLz4HeaderBytes = 7;                        // at least
constexpr std::size_t kLz4StateBytes = std::size_t{2} << 10;
constexpr std::size_t kLz4HistoryBytes = std::size_t{128} << 10;

struct frees_lz4_context {
  void operator()(LZ4F_dctx* c) const { ::LZ4F_freeDecompressionContext(c); }
};

class lz4_codec final : public decompressor {
 public:
  beginning begins(std::string_view in, bool last) const override {
    beginning b = begins_with(in, kLz4Magic);
    if (b == beginning::no) b = begins_with(in, kLz4LegacyMagic);
    if (b == beginning::no) b = begins_skippable(in);
    if (b == beginning::no) return b;
    if (last) return beginning::yes;
    return in.size() < kLz4HeaderBytes ? beginning::unknown : b;
  }
  std::string_view expected() const override { return "the bytes 04 22 4d 18"; }
  std::string refused(std::string_view in) const override {
    return begins_with(in, kLz4LegacyMagic) == beginning::yes
               ? "the legacy format of `lz4 -l`, which has no checksums and is not read"
               : "";
  }
  std::size_t begin(std::string_view in) override {
    if (begins_with(in, kLz4Magic) != beginning::yes || in.size() < kLz4HeaderBytes) return kLz4StateBytes;
    const int size = static_cast<unsigned char>(in[5]) >> 4 & 7;  // 4: 64 KiB, 5: 256 KiB, 6: 1 MiB, 7: 4 MiB
    const std::size_t block = size < 4 ? 0 : std::size_t{1} << (8 + 2 * size);
    return kLz4StateBytes + 2 * block + kLz4HistoryBytes;
  }
  codec_progress go(std::string_view in, bool, char* out, std::size_t room) override {
    codec_progress p;
    if (!context_) {
      LZ4F_dctx* made = nullptr;
      if (::LZ4F_isError(::LZ4F_createDecompressionContext(&made, LZ4F_VERSION))) throw std::bad_alloc();
      context_.reset(made);
    }
    p.consumed = in.size();
    p.produced = room;
    const std::size_t left = ::LZ4F_decompress(context_.get(), out, &p.produced, in.data(), &p.consumed, nullptr);
    if (!::LZ4F_isError(left)) {
      p.ended = left == 0;
      return p;
    }
    p.consumed = p.produced = 0;
    p.broken = ::LZ4F_getErrorName(left);
    return p;
  }

 private:
  std::unique_ptr<LZ4F_dctx, frees_lz4_context> context_;
};

}  // namespace

std::unique_ptr<decompressor> new_lz4_codec() { return std::make_unique<lz4_codec>(); }
#else
std::unique_ptr<decompressor> new_lz4_codec() { return nullptr; }
#endif

}  // namespace sluice::lib::detail
