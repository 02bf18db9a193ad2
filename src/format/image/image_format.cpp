// SPDX-License-Identifier: Apache-2.0
#include "format/image/image_checks.hpp"
#include "sluice/format/image_codecs.hpp"

namespace sluice::lib {

std::string_view to_string(image_format f) {
  switch (f) {
    case image_format::jpeg: return "JPEG";
    case image_format::png: return "PNG";
    case image_format::gif: return "GIF";
    case image_format::bmp: return "BMP";
    case image_format::webp: return "WebP";
    case image_format::unknown: break;
  }
  return "unknown";
}

image_format image_format_of(std::string_view encoded) noexcept {
  if (encoded.starts_with("\xff\xd8\xff")) return image_format::jpeg;
  if (encoded.starts_with("\x89PNG\r\n\x1a\n")) return image_format::png;
  if (encoded.starts_with("GIF8")) return image_format::gif;
  if (encoded.starts_with("BM")) return image_format::bmp;
  if (encoded.starts_with("RIFF") && encoded.size() > 12 && encoded.substr(8).starts_with("WEBP"))
    return image_format::webp;
  return image_format::unknown;
}

bool is_available(image_format f) noexcept {
  switch (f) {
    case image_format::jpeg: return SLUICE_HAVE_JPEG;
    case image_format::png: return SLUICE_HAVE_PNG;
    case image_format::gif: return SLUICE_HAVE_GIF;
    case image_format::webp: return SLUICE_HAVE_WEBP;
    case image_format::bmp: return true;
    case image_format::unknown: break;
  }
  return false;
}

result<tensor> decode_image(std::string_view encoded, const image_options& options) {
  return detail::into_tensor([&](pixel_sink to) { return decode_image(encoded, options, to); });
}

result<image_spec> decode_image(std::string_view encoded, const image_options& o, pixel_sink to) {
  if (status why = detail::check_encoded("decode_image", encoded, o.limits); !why.ok()) return why;
  switch (image_format_of(encoded)) {
    case image_format::jpeg:
      return decode_jpeg(encoded,
                         {.channels = o.channels,
                          .dct = o.dct,
                          .try_recover_truncated = o.try_recover_truncated,
                          .acceptable_fraction = o.acceptable_fraction,
                          .apply_orientation = o.apply_orientation,
                          .limits = o.limits},
                         to);
    case image_format::png:
      return decode_png(encoded, {.channels = o.channels, .apply_orientation = o.apply_orientation, .limits = o.limits},
                        to);
    case image_format::bmp: return decode_bmp(encoded, {.channels = o.channels, .limits = o.limits}, to);
    case image_format::webp:
      return decode_webp(
          encoded,
          {.channels = o.channels, .frames = o.frames, .apply_orientation = o.apply_orientation, .limits = o.limits},
          to);
    case image_format::gif:
      if (o.channels != 0 && o.channels != 3 && o.channels != 4)
        return detail::image_error("decode_image", "a GIF has 3 or 4 channels: `channels` must be 0, 3 or 4");
      return decode_gif(encoded, {.channels = o.channels, .frames = o.frames, .limits = o.limits}, to);
    case image_format::unknown: break;
  }
  return detail::image_error("decode_image", "these bytes are no JPEG, PNG, GIF, BMP or WebP");
}

}  // namespace sluice::lib
