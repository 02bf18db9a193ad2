// SPDX-License-Identifier: Apache-2.0
#include "format/image/orientation.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace sluice::lib::detail {
namespace {

constexpr std::string_view kExifHead("Exif\0\0", 6);
constexpr std::uint32_t kOrientationTag = 0x0112, kLongType = 4;

/// Reads numbers of a TIFF file in either byte order; 0 beyond its end.
struct tiff_bytes {
  std::string_view bytes;
  bool big_endian;

  std::uint32_t number(std::size_t at, std::size_t size) const noexcept {
    if (at > bytes.size() || bytes.size() - at < size) return 0;
    std::uint32_t n = 0;
    for (std::size_t i = 0; i != size; ++i) {
      const auto b = static_cast<std::uint8_t>(bytes[at + (big_endian ? i : size - 1 - i)]);
      n = n << 8 | b;
    }
    return n;
  }
};

}  // namespace

int exif_orientation(std::string_view app1) noexcept {
  if (!app1.starts_with(kExifHead)) return 0;
  return exif_block_orientation(app1);
}

int exif_block_orientation(std::string_view block) noexcept {
  while (block.starts_with(kExifHead)) block.remove_prefix(kExifHead.size());
  if (!block.starts_with("II") && !block.starts_with("MM")) return 0;
  const tiff_bytes tiff{block, block[0] == 'M'};
  const std::size_t directory = tiff.number(4, 4);
  const std::uint32_t entries = tiff.number(directory, 2);
  for (std::uint32_t i = 0; i != entries; ++i) {
    const std::size_t entry = directory + 2 + std::size_t{12} * i;
    if (entry >= block.size()) return 0;
    if (tiff.number(entry, 2) != kOrientationTag) continue;
    const std::size_t size = tiff.number(entry + 2, 2) == kLongType ? 4 : 2;
    const std::uint32_t value = tiff.number(entry + 8, size);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 0;
  }
  return 0;
}

image_spec oriented(image_spec spec, int orientation) noexcept {
  if (orientation >= 5) std::swap(spec.height, spec.width);
  return spec;
}

void orient(const image_view& from, int orientation, std::uint8_t* to) noexcept {
  const image_spec spec = oriented(from.spec(), orientation);
  const auto pixel = static_cast<std::size_t>(from.channels) * size_bytes(from.type);
  // Decides whether the rows or columns of the source are counted from the other end.
  const bool rows_reversed = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  const bool columns_reversed = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const bool swapped = orientation >= 5;
  for (int y = 0; y != spec.height; ++y)
    for (int x = 0; x != spec.width; ++x, to += pixel) {
      int from_y = swapped ? x : y, from_x = swapped ? y : x;
      if (swapped ? columns_reversed : rows_reversed) from_y = from.height - 1 - from_y;
      if (swapped ? rows_reversed : columns_reversed) from_x = from.width - 1 - from_x;
      std::memcpy(to, from.row(from_y) + static_cast<std::size_t>(from_x) * pixel, pixel);
    }
}

result<image_spec> decode_upright(int orientation, const stored_decoder& decode, pixel_sink to) {
  if (orientation <= 1) return decode(to);
  std::unique_ptr<std::uint8_t[]> stored;
  result<image_spec> spec = decode([&](const image_spec& s) {
    stored = std::make_unique_for_overwrite<std::uint8_t[]>(s.bytes());
    return stored.get();
  });
  if (!spec.ok()) return spec;
  const image_spec turned = oriented(*spec, orientation);
  result<std::uint8_t*> out = to.room(turned);
  if (!out.ok()) return out.why();
  image_spec frame = *spec;
  frame.frames = 0;
  for (int i = 0; i != std::max(spec->frames, 1); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * frame.bytes();
    orient(image_view(stored.get() + at, frame), orientation, *out + at);
  }
  return turned;
}

}  // namespace sluice::lib::detail
