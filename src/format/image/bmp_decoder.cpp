// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <cstring>

#include "format/image/image_checks.hpp"
#include "sluice/format/image_codecs.hpp"

namespace sluice::lib {
namespace detail {
namespace {

constexpr std::string_view kBmpFunction = "decode_bmp";
constexpr std::size_t kBmpHeadBytes = 34;   // up to the compression
constexpr std::int32_t kBmpInfoBytes = 40;  // of the header's second part, since Windows 3
enum : std::int32_t { kBmpPlain = 0, kBmpBitFields = 3 };

std::int32_t little_endian32(const char* p) noexcept {
  std::int32_t n;
  std::memcpy(&n, p, sizeof n);
  return n;
}

/// Converts one row; files store blue first. 1 channel is possible from grey only, 3 or 4 from any file.
void convert_bmp_row(const std::uint8_t* in, int in_channels, std::uint8_t* out, int out_channels, int width) {
  for (int x = 0; x != width; ++x, in += in_channels, out += out_channels) {
    out[0] = in_channels == 1 ? in[0] : in[2];
    if (out_channels == 1) continue;
    out[1] = in_channels == 1 ? in[0] : in[1];
    out[2] = in[0];
    if (out_channels == 4) out[3] = in_channels == 4 ? in[3] : 255;
  }
}

struct bmp_header {
  std::uint64_t pixels_at = 0, row_bytes = 0;
  int height = 0, width = 0, channels = 0;
  bool top_down = false;
};

result<bmp_header> read_bmp_header(std::string_view encoded, const image_limits& limits) {
  if (encoded.size() < kBmpHeadBytes) return image_truncated(kBmpFunction, encoded.size());
  const std::int64_t pixels_at = little_endian32(encoded.data() + 10), width = little_endian32(encoded.data() + 18),
                     height = little_endian32(encoded.data() + 22);
  std::uint16_t bits;
  std::memcpy(&bits, encoded.data() + 28, sizeof bits);
  if (little_endian32(encoded.data() + 14) < kBmpInfoBytes)
    return image_error(kBmpFunction, "a header of OS/2, which is not read");
  const std::int32_t compression = little_endian32(encoded.data() + 30);
  if (bits != 8 && bits != 24 && bits != 32)
    return image_error(kBmpFunction, absl::StrCat(bits, " bits a pixel; 8, 24 and 32 are read"));
  // Masks of 32 bits are blue, green, red in all known files. Like TensorFlow, this code does not read them.
  if (compression != kBmpPlain && !(compression == kBmpBitFields && bits == 32))
    return image_error(kBmpFunction, absl::StrCat("compression ", compression, ", which is not read"));
  if (width <= 0 || height == 0)
    return image_error(kBmpFunction, absl::StrCat("an image of ", height, " rows and ", width, " columns"));
  if (pixels_at < 0) return image_damage(kBmpFunction, "a negative offset of the pixels", 10);
  const std::int64_t rows = height < 0 ? -height : height;
  if (status why =
          check_size(kBmpFunction, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(width), 1, limits);
      !why.ok())
    return why;
  bmp_header h;
  h.channels = bits / 8;
  h.row_bytes = (static_cast<std::uint64_t>(width) * static_cast<unsigned>(h.channels) + 3) / 4 * 4;
  h.pixels_at = static_cast<std::uint64_t>(pixels_at);
  h.height = static_cast<int>(rows);
  h.width = static_cast<int>(width);
  h.top_down = height < 0;
  const std::uint64_t end = h.pixels_at + h.row_bytes * static_cast<std::uint64_t>(rows);
  if (encoded.size() < end) return image_truncated(kBmpFunction, encoded.size());
  if (encoded.size() > end) return image_damage(kBmpFunction, "there are bytes after the last row,", end);
  return h;
}

}  // namespace
}  // namespace detail

result<tensor> decode_bmp(std::string_view encoded, const bmp_options& options) {
  return detail::into_tensor([&](pixel_sink to) { return decode_bmp(encoded, options, to); });
}

result<image_spec> decode_bmp(std::string_view encoded, const bmp_options& options, pixel_sink to) {
  using namespace detail;
  if (options.channels != 0 && options.channels != 3 && options.channels != 4)
    return image_error(kBmpFunction, absl::StrCat("channels must be 0, 3 or 4, not ", options.channels));
  if (status why = check_encoded(kBmpFunction, encoded, options.limits); !why.ok()) return why;
  if (image_format_of(encoded) != image_format::bmp) return image_error(kBmpFunction, "these bytes are no BMP");
  result<bmp_header> h = read_bmp_header(encoded, options.limits);
  if (!h.ok()) return h.why();
  image_spec spec{
      .height = h->height, .width = h->width, .channels = options.channels != 0 ? options.channels : h->channels};
  if (status why = check_result(kBmpFunction, spec, options.limits); !why.ok()) return why;
  result<std::uint8_t*> out = to.room(spec);
  if (!out.ok()) return out.why();
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(encoded.data()) + h->pixels_at;
  for (int y = 0; y != spec.height; ++y) {
    const int from = h->top_down ? y : spec.height - 1 - y;
    convert_bmp_row(pixels + static_cast<std::size_t>(from) * h->row_bytes, h->channels,
                    *out + static_cast<std::size_t>(y) * spec.row_bytes(), spec.channels, spec.width);
  }
  return spec;
}

}  // namespace sluice::lib
