// SPDX-License-Identifier: Apache-2.0
// Decodes WebP with libwebp, and animations with libwebpdemux.
#include "sluice/format/image_codecs.hpp"

#include "format/image/image_checks.hpp"

#if SLUICE_HAVE_WEBP
#include <cstring>
#include <memory>

#include <absl/strings/str_cat.h>
#include <webp/decode.h>
#include <webp/demux.h>

#include "format/image/orientation.hpp"
#endif

namespace sluice::lib {

result<tensor> decode_webp(std::string_view encoded, const webp_options& options) {
  return detail::into_tensor([&](pixel_sink to) { return decode_webp(encoded, options, to); });
}

#if !SLUICE_HAVE_WEBP

result<image_spec> decode_webp(std::string_view, const webp_options&, pixel_sink) {
  return detail::image_unavailable("decode_webp", "libwebp");
}

#else

namespace detail {
namespace {

constexpr std::string_view kWebpFunction = "decode_webp";
constexpr int kWebpLossy = 1;  // WebPBitstreamFeatures::format

const std::uint8_t* webp_bytes(std::string_view encoded) {
  return reinterpret_cast<const std::uint8_t*>(encoded.data());
}

status webp_status(VP8StatusCode code, std::size_t encoded_bytes) {
  switch (code) {
    case VP8_STATUS_OK: return {};
    case VP8_STATUS_OUT_OF_MEMORY: return status::out_of_memory();
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED: return image_truncated(kWebpFunction, encoded_bytes);
    case VP8_STATUS_UNSUPPORTED_FEATURE: return image_error(kWebpFunction, "a feature that libwebp does not know");
    default: break;  // libwebp does not report the place
  }
  return data_loss_error(absl::StrCat(std::string(kWebpFunction), ": damaged within the ", encoded_bytes, " bytes"));
}

struct free_demuxer {
  void operator()(WebPDemuxer* d) const noexcept { WebPDemuxDelete(d); }
};
struct free_animation {
  void operator()(WebPAnimDecoder* d) const noexcept { WebPAnimDecoderDelete(d); }
};

/// Converts RGBA to RGB.
void drop_alpha(const std::uint8_t* in, std::uint8_t* out, std::size_t pixels) {
  for (std::size_t i = 0; i != pixels; ++i, in += 4, out += 3) std::memcpy(out, in, 3);
}

result<image_spec> decode_webp_frames(std::string_view encoded, const webp_options& o, int channels, pixel_sink to) {
  const WebPData data{webp_bytes(encoded), encoded.size()};
  WebPDemuxState state = WEBP_DEMUX_PARSE_ERROR;
  // The partial form distinguishes truncated data from wrong data.
  std::unique_ptr<WebPDemuxer, free_demuxer> demuxer(WebPDemuxPartial(&data, &state));
  if (!demuxer || state == WEBP_DEMUX_PARSE_ERROR) return webp_status(VP8_STATUS_BITSTREAM_ERROR, encoded.size());
  if (state != WEBP_DEMUX_DONE) return image_truncated(kWebpFunction, encoded.size());
  const std::uint32_t height = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_HEIGHT),
                      width = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_WIDTH),
                      in_file = WebPDemuxGetI(demuxer.get(), WEBP_FF_FRAME_COUNT);
  if (in_file == 0) return image_error(kWebpFunction, "an animation without frames");
  const std::uint32_t frames = o.frames == frame_choice::first ? 1 : in_file;
  if (status why = check_size(kWebpFunction, height, width, frames, o.limits); !why.ok()) return why;
  image_spec spec{.height = static_cast<int>(height),
                  .width = static_cast<int>(width),
                  .channels = channels,
                  .frames = o.frames == frame_choice::first ? 0 : static_cast<int>(frames)};
  if (status why = check_result(kWebpFunction, spec, o.limits); !why.ok()) return why;

  // libwebpdemux allocates two canvases of four bytes a pixel.
  if (status why = check_result(kWebpFunction, {.height = spec.height, .width = spec.width, .channels = 8}, o.limits);
      !why.ok())
    return why;
  WebPAnimDecoderOptions settings;
  if (!WebPAnimDecoderOptionsInit(&settings)) return internal_error("decode_webp: another version of libwebpdemux");
  std::unique_ptr<WebPAnimDecoder, free_animation> animation(WebPAnimDecoderNew(&data, &settings));
  if (!animation) return webp_status(VP8_STATUS_BITSTREAM_ERROR, encoded.size());
  result<std::uint8_t*> out = to.room(spec);
  if (!out.ok()) return out.why();
  for (std::uint32_t i = 0; i != frames; ++i) {
    std::uint8_t* canvas = nullptr;
    int until_ms = 0;
    if (!WebPAnimDecoderGetNext(animation.get(), &canvas, &until_ms))
      return data_loss_error(absl::StrCat(std::string(kWebpFunction), ": frame ", i, " of ", in_file, " is damaged"));
    std::uint8_t* frame = *out + i * spec.frame_bytes();
    if (spec.channels == 4) std::memcpy(frame, canvas, spec.frame_bytes());
    else drop_alpha(canvas, frame, std::size_t{height} * width);
  }
  return spec;
}

/// Returns the orientation in the chunk EXIF.
int webp_orientation(std::string_view encoded) {
  const WebPData data{webp_bytes(encoded), encoded.size()};
  std::unique_ptr<WebPDemuxer, free_demuxer> demuxer(WebPDemux(&data));
  WebPChunkIterator chunk;
  if (!demuxer || !WebPDemuxGetChunk(demuxer.get(), "EXIF", 1, &chunk)) return 0;
  const int found =
      exif_block_orientation({reinterpret_cast<const char*>(chunk.chunk.bytes), chunk.chunk.size});  // within `encoded`
  WebPDemuxReleaseChunkIterator(&chunk);
  return found;
}

result<image_spec> decode_stored_webp(std::string_view encoded, const webp_options& options, pixel_sink to) {
  if (options.channels != 0 && options.channels != 3 && options.channels != 4)
    return image_error(kWebpFunction, absl::StrCat("channels must be 0, 3 or 4, not ", options.channels));
  if (status why = check_encoded(kWebpFunction, encoded, options.limits); !why.ok()) return why;
  if (image_format_of(encoded) != image_format::webp) return image_error(kWebpFunction, "these bytes are no WebP");
  WebPBitstreamFeatures features;
  if (status why = webp_status(WebPGetFeatures(webp_bytes(encoded), encoded.size(), &features), encoded.size());
      !why.ok())
    return why;
  const int channels = options.channels != 0 ? options.channels : features.has_alpha ? 4 : 3;
  if (features.has_animation) return decode_webp_frames(encoded, options, channels, to);

  if (status why = check_size(kWebpFunction, static_cast<std::uint64_t>(features.height),
                              static_cast<std::uint64_t>(features.width), 1, options.limits);
      !why.ok())
    return why;
  image_spec spec{.height = features.height, .width = features.width, .channels = channels};
  if (options.frames == frame_choice::all) spec.frames = 1;
  if (status why = check_result(kWebpFunction, spec, options.limits); !why.ok()) return why;
  // For lossless files libwebp allocates four more bytes a pixel.
  if (status why =
          check_result(kWebpFunction, {.height = spec.height, .width = spec.width, .channels = 4}, options.limits);
      !why.ok() && features.format != kWebpLossy)
    return why;
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) return internal_error("decode_webp: another version of libwebp");
  result<std::uint8_t*> out = to.room(spec);
  if (!out.ok()) return out.why();
  config.output.colorspace = spec.channels == 3 ? MODE_RGB : MODE_RGBA;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {.rgba = *out, .stride = static_cast<int>(spec.row_bytes()), .size = spec.frame_bytes()};
  const status why = webp_status(WebPDecode(webp_bytes(encoded), encoded.size(), &config), encoded.size());
  WebPFreeDecBuffer(&config.output);  // frees libwebp's own parts only, because the memory is ours
  if (!why.ok()) return why;
  return spec;
}

}  // namespace
}  // namespace detail

result<image_spec> decode_webp(std::string_view encoded, const webp_options& options, pixel_sink to) {
  using namespace detail;
  const bool is_turned = options.apply_orientation && encoded.size() <= options.limits.encoded_bytes_max;
  return decode_upright(
      is_turned ? webp_orientation(encoded) : 0,
      [&](pixel_sink stored) { return decode_stored_webp(encoded, options, stored); }, to);
}

#endif

}  // namespace sluice::lib
