// SPDX-License-Identifier: Apache-2.0
// The headers of Windows (40 bytes and more) and OS/2 (12 bytes; 16 to 64 bytes).
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "format/image/bmp_parts.hpp"
#include "format/image/image_checks.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::size_t kFileHeaderBytes = 14;
constexpr std::size_t kOs2Bytes = 12, kOs2LaterMin = 16, kOs2LaterMax = 64;
constexpr std::size_t kWindowsBytes = 40, kWithMasksBytes = 52, kWithAlphaBytes = 56, kVersion4Bytes = 108,
                      kVersion5Bytes = 124;
constexpr std::size_t kMasksAt = kFileHeaderBytes + kWindowsBytes;
enum : std::uint32_t { kPlain, kRle8, kRle4, kBitFields, kJpeg, kPng, kAlphaBitFields };
/// A pair of bytes is at most 255 pixels. A file whose pixels are mostly skipped, and that is smaller, is refused.
constexpr std::uint64_t kRunPixelsPerByteMax = 128;

/// The fields as they are stored; those that a short header lacks are 0.
struct stored_header {
  std::size_t bytes = 0, pixels_at = 0;
  std::int64_t width = 0, height = 0;
  int bits = 0;
  std::uint32_t compression = 0, colors = 0;
  bool is_os2 = false;
};

std::uint32_t number(std::string_view encoded, std::size_t at, std::size_t size = 4) noexcept {
  std::uint32_t n = 0;
  std::memcpy(&n, encoded.data() + at, size);
  return n;
}

result<stored_header> read_stored(std::string_view encoded) {
  if (encoded.size() < kFileHeaderBytes + kOs2Bytes) return image_truncated(kBmpFunction, encoded.size());
  stored_header h{.bytes = number(encoded, 14), .pixels_at = number(encoded, 10)};
  const bool is_windows = h.bytes == kWindowsBytes || h.bytes == kWithMasksBytes || h.bytes == kWithAlphaBytes ||
                          h.bytes == kVersion4Bytes || h.bytes == kVersion5Bytes;
  h.is_os2 = !is_windows;
  if (h.is_os2 && h.bytes != kOs2Bytes && (h.bytes < kOs2LaterMin || h.bytes > kOs2LaterMax))
    return image_error(kBmpFunction, absl::StrCat("a header of ", h.bytes, " bytes, which no known kind has"));
  if (encoded.size() < kFileHeaderBytes + h.bytes) return image_truncated(kBmpFunction, encoded.size());
  if (h.bytes == kOs2Bytes) {
    h.width = number(encoded, 18, 2);
    h.height = number(encoded, 20, 2);
    h.bits = static_cast<int>(number(encoded, 24, 2));
    return h;
  }
  h.width = static_cast<std::int32_t>(number(encoded, 18));
  h.height = static_cast<std::int32_t>(number(encoded, 22));
  h.bits = static_cast<int>(number(encoded, 28, 2));
  if (h.bytes >= 20) h.compression = number(encoded, 30);
  if (h.bytes >= 36) h.colors = number(encoded, 46);
  return h;
}

/// Returns the error of a kind that is not read.
status check_kind(const stored_header& h) {
  const auto refuse = [](std::string_view what) { return image_error(kBmpFunction, what); };
  if (h.is_os2 && h.compression == kBitFields) return refuse("Huffman coding of OS/2, which is not read");
  if (h.is_os2 && h.compression == kJpeg) return refuse("run-length encoding of 24 bits of OS/2, which is not read");
  if (h.compression == kJpeg) return refuse("a JPEG in the file, which is not read");
  if (h.compression == kPng) return refuse("a PNG in the file, which is not read");
  if (h.bits != 1 && h.bits != 2 && h.bits != 4 && h.bits != 8 && h.bits != 16 && h.bits != 24 && h.bits != 32)
    return refuse(absl::StrCat(h.bits, " bits a pixel; 1, 2, 4, 8, 16, 24 and 32 are read"));
  switch (h.compression) {
    case kPlain: return {};
    case kRle8:
    case kRle4:
      if (h.bits != (h.compression == kRle8 ? 8 : 4))
        return refuse(absl::StrCat("run-length encoding of ", h.compression == kRle8 ? 8 : 4, " bits with ", h.bits,
                                   " bits a pixel"));
      if (h.height < 0) return refuse("run-length encoding from top to bottom, which does not exist");
      return {};
    case kBitFields:
    case kAlphaBitFields:
      if (h.bits == 16 || h.bits == 32) return {};
      return refuse(absl::StrCat("masks with ", h.bits, " bits a pixel"));
    default: return refuse(absl::StrCat("compression ", h.compression, ", which is not read"));
  }
}

/// Reads the masks of 16 and 32 bits. Returns the number of bytes between the header and the palette in `after`.
status read_masks(std::string_view encoded, const stored_header& s, bmp_header& h, std::size_t& after) {
  std::array<std::uint32_t, 4> masks{};
  if (s.compression == kPlain) {
    if (s.bits == 16) masks = {0x7c00, 0x03e0, 0x001f};
    else masks = {0xff0000, 0xff00, 0xff};
    h.has_spare_byte = s.bits == 32;
  } else {
    const bool has_alpha = s.compression == kAlphaBitFields || s.bytes >= kWithAlphaBytes;
    const std::size_t bytes = has_alpha ? 16 : 12;
    if (s.bytes == kWindowsBytes) after = bytes;
    if (encoded.size() < kMasksAt + bytes) return image_truncated(kBmpFunction, encoded.size());
    for (std::size_t i = 0; i != bytes / 4; ++i) masks[i] = number(encoded, kMasksAt + 4 * i);
  }
  std::uint32_t used = 0;
  for (std::size_t i = 0; i != masks.size(); ++i) {
    const std::uint32_t m = masks[i];
    if (m == 0) continue;
    const int shift = std::countr_zero(m);
    const std::uint32_t most = m >> shift;
    if ((most & (most + 1)) != 0)
      return image_damage(kBmpFunction, "a mask with a gap between its bits,", kMasksAt + 4 * i);
    if ((m & used) != 0) return image_damage(kBmpFunction, "masks with common bits,", kMasksAt + 4 * i);
    if (s.bits == 16 && m > 0xffff)
      return image_damage(kBmpFunction, "a mask beyond the 16 bits of a pixel,", kMasksAt + 4 * i);
    used |= m;
    h.masks[i] = {m, most, shift};
  }
  if ((used & ~masks[3]) == 0) return image_damage(kBmpFunction, "masks without a color,", kMasksAt);
  return {};
}

status read_palette(std::string_view encoded, const stored_header& s, std::size_t palette_at, bmp_header& h) {
  const std::size_t entry = s.bytes == kOs2Bytes ? 3 : 4;
  const std::size_t most = std::size_t{1} << s.bits, between = (s.pixels_at - palette_at) / entry;
  const std::size_t colors = std::min({most, between, s.colors == 0 ? most : std::size_t{s.colors}});
  if (colors == 0) return image_damage(kBmpFunction, "no palette before the pixels,", palette_at);
  if (encoded.size() < palette_at + colors * entry) return image_truncated(kBmpFunction, encoded.size());
  const auto* from = reinterpret_cast<const std::uint8_t*>(encoded.data()) + palette_at;
  bool is_gray = true;
  for (std::size_t i = 0; i != colors; ++i, from += entry) {  // blue first
    h.palette.push_back({from[2], from[1], from[0]});
    is_gray = is_gray && from[0] == from[1] && from[1] == from[2];
  }
  h.channels = is_gray ? 1 : 3;
  return {};
}

}  // namespace

result<bmp_header> read_bmp_header(std::string_view encoded, const image_limits& limits) {
  result<stored_header> stored = read_stored(encoded);
  if (!stored.ok()) return stored.why();
  const stored_header& s = *stored;
  if (status why = check_kind(s); !why.ok()) return why;
  if (s.width <= 0 || s.height == 0)
    return image_error(kBmpFunction, absl::StrCat("an image of ", s.height, " rows and ", s.width, " columns"));
  const auto rows = static_cast<std::uint64_t>(s.height < 0 ? -s.height : s.height),
             columns = static_cast<std::uint64_t>(s.width);
  if (status why = check_size(kBmpFunction, rows, columns, 1, limits); !why.ok()) return why;
  bmp_header h{.height = static_cast<int>(rows),
               .width = static_cast<int>(columns),
               .bits = s.bits,
               .channels = 3,
               .top_down = s.height < 0,
               .pixels_at = s.pixels_at,
               .row_bytes = (columns * static_cast<unsigned>(s.bits) + 31) / 32 * 4};
  std::size_t masks_bytes = 0;
  if (s.bits == 16 || s.bits == 32) {
    if (status why = read_masks(encoded, s, h, masks_bytes); !why.ok()) return why;
    if (h.masks[3].bits != 0) h.channels = 4;
  }
  const std::size_t palette_at = kFileHeaderBytes + s.bytes + masks_bytes;
  if (s.pixels_at < palette_at) return image_damage(kBmpFunction, "pixels that begin within the header,", 10);
  if (s.bits <= 8)
    if (status why = read_palette(encoded, s, palette_at, h); !why.ok()) return why;
  if (s.compression == kRle8 || s.compression == kRle4) {
    h.encoding = s.compression == kRle8 ? bmp_encoding::rle8 : bmp_encoding::rle4;
    if (encoded.size() < h.pixels_at || rows * columns / kRunPixelsPerByteMax > encoded.size() - h.pixels_at)
      return image_truncated(kBmpFunction, encoded.size());
  } else if (encoded.size() < h.pixels_at || encoded.size() - h.pixels_at < h.row_bytes * rows) {
    return image_truncated(kBmpFunction, encoded.size());
  }
  return h;
}

}  // namespace sluice::lib::detail
