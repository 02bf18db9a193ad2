// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <cstring>
#include <vector>

#include "format/image/bmp_parts.hpp"
#include "format/image/image_checks.hpp"
#include "sluice/format/image_codecs.hpp"

namespace sluice::lib {
namespace detail {
namespace {

/// Writes a row of colors of the palette.
status write_colors(const bmp_header& h, const std::uint8_t* colors, std::uint8_t* out, int channels,
                    std::size_t at_byte) {
  for (int x = 0; x != h.width; ++x, out += channels) {
    if (colors[x] >= h.palette.size())
      return image_damage(kBmpFunction, absl::StrCat("color ", colors[x], " of a palette of ", h.palette.size(), ","),
                          at_byte);
    const auto& rgb = h.palette[colors[x]];
    out[0] = rgb[0];
    if (channels == 1) continue;
    out[1] = rgb[1], out[2] = rgb[2];
    if (channels == 4) out[3] = 255;
  }
  return {};
}

/// Reads the colors of a row of 1, 2, 4 or 8 bits; the first pixel has the highest bits of its byte.
void unpack_colors(const bmp_header& h, const std::uint8_t* row, std::uint8_t* colors) {
  const int per_byte = 8 / h.bits, most = (1 << h.bits) - 1;
  for (int x = 0; x != h.width; ++x)
    colors[x] = static_cast<std::uint8_t>(row[x / per_byte] >> (8 - h.bits - x % per_byte * h.bits) & most);
}

/// Writes a row of 24 bits, or of 32 bits without masks. Files store blue first. `alpha`: the fourth byte is alpha.
void write_bytes(const bmp_header& h, const std::uint8_t* in, std::uint8_t* out, int channels, bool alpha) {
  const int step = h.bits / 8;
  for (int x = 0; x != h.width; ++x, in += step, out += channels) {
    out[0] = in[2], out[1] = in[1], out[2] = in[0];
    if (channels == 4) out[3] = alpha ? in[3] : 255;
  }
}

std::uint8_t masked(std::uint32_t pixel, const bmp_mask& m, std::uint8_t otherwise) noexcept {
  if (m.bits == 0) return otherwise;
  const std::uint64_t value = (pixel & m.bits) >> m.shift;
  return static_cast<std::uint8_t>(m.most == 255 ? value : (value * 255 + m.most / 2) / m.most);
}

void write_masked(const bmp_header& h, const std::uint8_t* in, std::uint8_t* out, int channels) {
  const auto step = static_cast<std::size_t>(h.bits / 8);
  for (int x = 0; x != h.width; ++x, in += step, out += channels) {
    std::uint32_t pixel = 0;
    std::memcpy(&pixel, in, step);
    for (std::size_t i = 0; i != 3; ++i) out[i] = masked(pixel, h.masks[i], 0);
    if (channels == 4) out[3] = masked(pixel, h.masks[3], 255);
  }
}

/// Returns true unless the fourth bytes of all pixels are 0.
bool has_fourth_bytes(const bmp_header& h, const std::uint8_t* pixels) {
  const std::size_t bytes = h.row_bytes * static_cast<std::size_t>(h.height);
  for (std::size_t i = 3; i < bytes; i += 4)
    if (pixels[i] != 0) return true;
  return false;
}

status write_pixels(std::string_view encoded, const bmp_header& h, const image_spec& spec, std::uint8_t* out) {
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(encoded.data()) + h.pixels_at;
  const bool alpha = h.has_spare_byte && spec.channels == 4 && has_fourth_bytes(h, pixels);
  std::vector<std::uint8_t> colors(h.bits <= 8 ? static_cast<std::size_t>(h.width) : 0);
  bmp_runs runs(encoded, h);
  for (int stored = 0; stored != h.height; ++stored) {
    const int y = h.top_down ? stored : h.height - 1 - stored;
    std::uint8_t* to = out + static_cast<std::size_t>(y) * spec.row_bytes();
    if (h.encoding != bmp_encoding::plain) {
      if (status why = runs.next_row(colors.data()); !why.ok()) return why;
      if (status why = write_colors(h, colors.data(), to, spec.channels, runs.at_byte()); !why.ok()) return why;
      continue;
    }
    const std::size_t at = static_cast<std::size_t>(stored) * h.row_bytes;
    if (h.bits <= 8) {
      unpack_colors(h, pixels + at, colors.data());
      if (status why = write_colors(h, colors.data(), to, spec.channels, h.pixels_at + at); !why.ok()) return why;
    } else if (h.bits == 24 || h.has_spare_byte) {
      write_bytes(h, pixels + at, to, spec.channels, alpha);
    } else {
      write_masked(h, pixels + at, to, spec.channels);
    }
  }
  return {};
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
  if (status why = write_pixels(encoded, *h, spec, *out); !why.ok()) return why;
  return spec;
}

}  // namespace sluice::lib
