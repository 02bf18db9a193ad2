// SPDX-License-Identifier: Apache-2.0
#include "format/image/plain_png.hpp"

#include <isa-l/crc.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "sluice/format/inflate.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::size_t kSignatureBytes = 8, kChunkBytes = 12, kHeaderBytes = 13;
constexpr std::size_t kRowsBytes = std::size_t{64} << 10;  // inflated at a time: fits into the second-level cache
enum : std::uint8_t { kNone, kSub, kUp, kAverage, kPaeth };

std::uint32_t big_endian_at(std::string_view bytes, std::size_t at) noexcept {
  std::uint32_t n;
  std::memcpy(&n, bytes.data() + at, sizeof n);
  return __builtin_bswap32(n);
}

/// Returns the compressed pixels: a part of `encoded`, or of `joined` if they are in several chunks. Returns "" if the
/// file is not plain.
std::string_view plain_pixels(std::string_view encoded, std::string& joined) {
  std::string_view pixels;
  bool behind_pixels = false;
  for (std::size_t at = kSignatureBytes; encoded.size() >= at + kChunkBytes;) {
    const std::size_t size = big_endian_at(encoded, at);
    if (size > encoded.size() - at - kChunkBytes) return {};
    const std::string_view name = encoded.substr(at + 4, 4), data = encoded.substr(at + 8, size);
    const bool is_critical = (name[0] & 0x20) == 0;
    if (is_critical && crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(name.data()), size + 4) !=
                           big_endian_at(encoded, at + 8 + size))
      return {};
    if (name == "IEND") return size == 0 ? pixels : std::string_view();
    if (name == "IDAT") {
      if (behind_pixels) return {};
      if (pixels.empty()) {
        pixels = data;
      } else {
        if (joined.empty()) joined.reserve(encoded.size()), joined = pixels;
        joined += data;
        pixels = joined;
      }
    } else {
      if (is_critical && !(name == "IHDR" && at == kSignatureBytes && size == kHeaderBytes)) return {};
      behind_pixels = !pixels.empty();
    }
    at += size + kChunkBytes;
  }
  return {};
}

#if defined(__SSE2__)
template <int kChannels> __m128i load_pixel(const std::uint8_t* p) noexcept {
  std::int32_t n = 0;
  std::memcpy(&n, p, kChannels);
  return _mm_cvtsi32_si128(n);
}
__m128i absolute(__m128i x) noexcept { return _mm_max_epi16(x, _mm_sub_epi16(_mm_setzero_si128(), x)); }
__m128i choose(__m128i where, __m128i a, __m128i b) noexcept {
  return _mm_or_si128(_mm_and_si128(where, a), _mm_andnot_si128(where, b));
}

/// Processes all channels of a pixel at once, in 16 bits.
template <int kChannels>
void undo_paeth(const std::uint8_t* in, const std::uint8_t* above, std::uint8_t* out, std::size_t row_bytes) noexcept {
  const __m128i zero = _mm_setzero_si128();
  __m128i a = zero, c = zero;
  for (std::size_t i = 0; i != row_bytes; i += kChannels) {
    const __m128i b = _mm_unpacklo_epi8(load_pixel<kChannels>(above + i), zero);
    __m128i pa = _mm_sub_epi16(b, c), pb = _mm_sub_epi16(a, c), pc = _mm_add_epi16(pa, pb);
    pa = absolute(pa), pb = absolute(pb), pc = absolute(pc);
    const __m128i least = _mm_min_epi16(pc, _mm_min_epi16(pa, pb));
    const __m128i nearest = choose(_mm_cmpeq_epi16(least, pa), a, choose(_mm_cmpeq_epi16(least, pb), b, c));
    // Bytes are added modulo 256.
    a = _mm_add_epi8(_mm_unpacklo_epi8(load_pixel<kChannels>(in + i), zero), nearest);
    c = b;
    const std::int32_t pixel = _mm_cvtsi128_si32(_mm_packus_epi16(a, a));
    std::memcpy(out + i, &pixel, kChannels);
  }
}
#else
std::uint8_t paeth(int a, int b, int c) noexcept {
  const int pa = std::abs(b - c), pb = std::abs(a - c), pc = std::abs(a + b - 2 * c);
  return static_cast<std::uint8_t>(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

template <int kChannels>
void undo_paeth(const std::uint8_t* in, const std::uint8_t* above, std::uint8_t* out, std::size_t row_bytes) noexcept {
  std::uint8_t a[kChannels] = {}, c[kChannels] = {};
  for (std::size_t i = 0; i != row_bytes; i += kChannels)
    for (std::size_t k = 0; k != kChannels; ++k) {
      out[i + k] = a[k] = static_cast<std::uint8_t>(in[i + k] + paeth(a[k], above[i + k], c[k]));
      c[k] = above[i + k];
    }
}
#endif

/// `above`: the previous row, or zeros. Returns false for an unknown filter.
template <int kChannels>
bool undo_filter(std::uint8_t filter, const std::uint8_t* in, const std::uint8_t* above, std::uint8_t* out,
                 std::size_t row_bytes) noexcept {
  std::uint8_t left[kChannels] = {};
  switch (filter) {
    case kNone: std::memcpy(out, in, row_bytes); return true;
    case kSub:
      for (std::size_t i = 0; i != row_bytes; i += kChannels)
        for (std::size_t k = 0; k != kChannels; ++k)
          out[i + k] = left[k] = static_cast<std::uint8_t>(left[k] + in[i + k]);
      return true;
    case kUp:
      for (std::size_t i = 0; i != row_bytes; ++i) out[i] = static_cast<std::uint8_t>(in[i] + above[i]);
      return true;
    case kAverage:
      for (std::size_t i = 0; i != row_bytes; i += kChannels)
        for (std::size_t k = 0; k != kChannels; ++k)
          out[i + k] = left[k] = static_cast<std::uint8_t>(in[i + k] + (left[k] + above[i + k]) / 2);
      return true;
    case kPaeth: undo_paeth<kChannels>(in, above, out, row_bytes); return true;
    default: return false;
  }
}

/// Fills `out`. Returns false if the stream ends before.
bool inflate_all(inflater& z, std::string_view& in, char* out, std::size_t bytes) {
  while (bytes != 0) {
    const inflate_step s = z.step(in, true, out, bytes);
    if (!s.why.ok() || (s.produced == 0 && s.consumed == 0)) return false;
    in.remove_prefix(s.consumed);
    out += s.produced;
    bytes -= s.produced;
    if (s.ended && bytes != 0) return false;
  }
  return true;
}

}  // namespace

bool decode_plain_png(std::string_view encoded, const image_spec& spec, std::uint8_t* out) {
  std::string joined;
  std::string_view pixels = plain_pixels(encoded, joined);
  if (pixels.empty()) return false;
  const std::size_t row_bytes = spec.row_bytes(), filtered_bytes = row_bytes + 1;
  const auto height = static_cast<std::size_t>(spec.height);
  const std::size_t rows_at_once = std::clamp<std::size_t>(kRowsBytes / filtered_bytes, 1, height);
  auto filtered = std::make_unique_for_overwrite<std::uint8_t[]>(rows_at_once * filtered_bytes);
  const auto zeros = std::make_unique<std::uint8_t[]>(row_bytes);
  const auto undo = spec.channels == 1   ? undo_filter<1>
                    : spec.channels == 2 ? undo_filter<2>
                    : spec.channels == 3 ? undo_filter<3>
                                         : undo_filter<4>;
  inflater z(compression::zlib);
  const std::uint8_t* above = zeros.get();
  for (std::size_t y = 0; y < height; y += rows_at_once) {
    const std::size_t rows = std::min(rows_at_once, height - y);
    if (!inflate_all(z, pixels, reinterpret_cast<char*>(filtered.get()), rows * filtered_bytes)) return false;
    for (std::size_t i = 0; i != rows; ++i) {
      const std::uint8_t* in = filtered.get() + i * filtered_bytes;
      if (!undo(in[0], in + 1, above, out, row_bytes)) return false;
      above = out;
      out += row_bytes;
    }
  }
  // Reads the end of the stream and its checksum.
  char more = 0;
  const inflate_step end = z.step(pixels, true, &more, 1);
  return end.why.ok() && end.ended && end.produced == 0;
}

}  // namespace sluice::lib::detail
