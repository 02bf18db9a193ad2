// SPDX-License-Identifier: Apache-2.0
// Decoders of images and of sound. The first bytes are options; the rest is a file.
#include <vector>

#include "fuzz/target.hpp"
#include "sluice/format/wav.hpp"
#if SLUICE_HAVE_IMAGES
#include <zlib.h>

#include "sluice/format/image_codecs.hpp"
#include "sluice/format/image_transforms.hpp"
#endif

namespace sluice::lib::fuzz {
namespace {

void expect_code(const status& why) {
  switch (why.code()) {
    case status_code::ok:
    case status_code::data_loss:
    case status_code::invalid_argument:
    case status_code::resource_exhausted:
    case status_code::unimplemented: return;
    default: expect(false, "refused as " + why.to_string());
  }
}

#if SLUICE_HAVE_IMAGES

// Small, so that an execution takes less than a millisecond.
constexpr image_limits kLimits{.side_max = 4096, .pixels_max = 1 << 14, .bytes_max = 1 << 18};

struct decoding {
  status why;
  image_spec spec;
  std::vector<std::uint8_t> pixels;
};

/// `decode(bytes, sink)`, into memory that is filled with `filler` before.
template <class Decode> decoding decode_over(std::uint8_t filler, std::string_view file, const Decode& decode) {
  decoding d;
  int calls = 0;
  result<image_spec> done = decode(file, [&](const image_spec& s) {
    expect(++calls == 1, "room was asked for twice");
    expect(s.height > 0 && s.width > 0 && s.channels > 0 && s.channels <= 4 && s.frames >= 0, "a spec of " + s.text());
    expect(s.bytes() <= kLimits.bytes_max, "room for " + s.text() + " is above the limit");
    d.spec = s;
    d.pixels.assign(s.bytes(), filler);
    return d.pixels.data();
  });
  d.why = done.why();
  expect_code(d.why);
  if (d.why.ok()) expect(calls == 1 && *done == d.spec, "another spec than room was asked for");
  return d;
}

/// Every byte has to be written, and be the same each time.
template <class Decode> void check_decoder(std::string_view bytes, const Decode& decode) {
  const std::string file(bytes);  // its own allocation, so that ASan sees a read beyond it
  const decoding a = decode_over(0, file, decode), b = decode_over(0xff, file, decode);
  expect(a.why.ok() == b.why.ok(), "decoded once, and once not");
  if (a.why.ok()) expect(a.pixels == b.pixels, "pixels that nobody wrote, or that differ from time to time");
}

frame_choice frames_of(std::uint8_t byte) { return byte & 0x80 ? frame_choice::all : frame_choice::first; }

/// A PNG whose chunks have the checksums that belong to them.
std::string with_checksums(std::string file) {
  for (std::size_t at = 8; at + 12 <= file.size();) {
    const auto byte = [&](std::size_t i) { return std::size_t{static_cast<std::uint8_t>(file[at + i])}; };
    const std::size_t size = byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
    if (size > file.size() - at - 12) break;
    const auto crc = ::crc32(0, reinterpret_cast<const Bytef*>(file.data() + at + 4), static_cast<uInt>(size + 4));
    for (std::size_t i = 0; i != 4; ++i) file[at + 8 + size + i] = static_cast<char>(crc >> (24 - 8 * i));
    at += size + 12;
  }
  return file;
}

#endif

}  // namespace

#if SLUICE_HAVE_IMAGES

void jpeg(std::string_view bytes) {
  input in(bytes);
  const std::uint8_t how = in.byte(), place = in.byte();
  jpeg_options o{.ratio = 1 << (how & 3), .limits = kLimits};
  o.channels = (how & 4) != 0 ? 3 : (how & 8) != 0 ? 1 : 0;
  o.dct = (how & 0x10) != 0 ? jpeg_dct::accurate : jpeg_dct::fast;
  o.fancy_upscaling = (how & 0x20) == 0;
  o.try_recover_truncated = (how & 0x40) != 0;
  o.apply_orientation = (how & 0x80) != 0;
  if (place != 0 && !o.apply_orientation)
    o.crop = {.y = place & 7, .x = place >> 3 & 7, .height = 1 + (place >> 6), .width = 1 + (place & 0x1f)};
  check_decoder(in.rest(), [&](std::string_view file, pixel_sink to) { return decode_jpeg(file, o, to); });
}

void png(std::string_view bytes) {
  input in(bytes);
  const std::uint8_t how = in.byte();
  const png_options o{.channels = how % 5, .type = how & 0x40 ? dtype::uint16 : dtype::uint8, .limits = kLimits};
  const std::string file = how & 0x80 ? with_checksums(std::string(in.rest())) : std::string(in.rest());
  check_decoder(file, [&](std::string_view f, pixel_sink to) { return decode_png(f, o, to); });
}

void gif(std::string_view bytes) {
  input in(bytes);
  const std::uint8_t how = in.byte();
  const gif_options o{.channels = how & 1 ? 4 : 0, .frames = frames_of(how), .limits = kLimits};
  check_decoder(in.rest(), [&](std::string_view file, pixel_sink to) { return decode_gif(file, o, to); });
}

void webp(std::string_view bytes) {
  input in(bytes);
  const std::uint8_t how = in.byte();
  const webp_options o{.channels = how % 3 == 0 ? 0 : 2 + how % 3, .frames = frames_of(how), .limits = kLimits};
  check_decoder(in.rest(), [&](std::string_view file, pixel_sink to) { return decode_webp(file, o, to); });
}

void bmp(std::string_view bytes) {
  input in(bytes);
  const std::uint8_t how = in.byte();
  const bmp_options o{.channels = how % 3 == 0 ? 0 : 2 + how % 3, .limits = kLimits};
  check_decoder(in.rest(), [&](std::string_view file, pixel_sink to) { return decode_bmp(file, o, to); });
}

/// Sizes, boxes and amounts of any value, over images of a few pixels.
void image_transform(std::string_view bytes) {
  input in(bytes);
  const std::uint8_t how = in.byte();
  const dtype type = how % 3 == 0 ? dtype::uint8 : how % 3 == 1 ? dtype::uint16 : dtype::float32;
  image_spec spec{
      .height = 1 + in.byte() % 40, .width = 1 + in.byte() % 40, .channels = 1 + in.byte() % 4, .type = type};
  const auto small = [&] { return static_cast<int>(static_cast<std::int8_t>(in.byte())); };
  const auto amount = [&] { return static_cast<float>(small()) / 16; };
  const std::uint8_t which = in.byte() % 7;
  const int a = small(), b = small(), c = small(), d = small();
  const float e = amount(), f = amount(), g = amount(), h = amount();
  random_source random(in.number(8));
  std::vector<std::uint8_t> pixels(spec.bytes());
  for (auto& p : pixels) p = type == dtype::float32 ? 0 : in.byte();
  const image_view view(pixels.data(), spec);
  const auto method = static_cast<resize_method>(how / 3 % 4);
  check_decoder("", [&](std::string_view, pixel_sink to) -> result<image_spec> {
    random_source own = random;
    switch (which) {
      case 0:
        return resize(view,
                      {.height = a,
                       .width = b,
                       .method = method,
                       .antialias = (how & 0x40) != 0,
                       .preserve_aspect_ratio = (how & 0x80) != 0,
                       .rounded = (how & 0x20) != 0},
                      to);
      case 1: return crop(view, {.y = a, .x = b, .height = c, .width = d}, to);
      case 2: return central_crop(view, static_cast<double>(e), to);
      case 3: return adjust_colours(view, {.brightness = e, .contrast = f, .saturation = g, .hue = h}, to);
      case 4: return random_crop(view, a, b, own, to);
      case 5:
        return random_resized_crop(view,
                                   {.size = {.height = a, .width = b, .method = method},
                                    .box = {.area_min = static_cast<double>(e),
                                            .area_max = static_cast<double>(f),
                                            .ratio_min = static_cast<double>(g),
                                            .ratio_max = static_cast<double>(h)}},
                                   own, to);
      default: return colour_jitter(view, {.brightness = e, .contrast_min = f, .contrast_max = g, .hue = h}, own, to);
    }
  });
}

#else  // the targets are always there

void jpeg(std::string_view) {}
void png(std::string_view) {}
void gif(std::string_view) {}
void webp(std::string_view) {}
void bmp(std::string_view) {}
void image_transform(std::string_view) {}

#endif

void wav(std::string_view bytes) {
  input in(bytes);
  const wav_options o{.channels = in.byte() % 4, .samples = in.byte() % 40, .bytes_max = 1 << 16};
  const std::string file(in.rest());
  auto s = decode_wav(file, o);
  expect_code(s.why());
  if (!s.ok()) return;
  expect(s->samples.size_bytes() <= o.bytes_max && s->samples.rank() == 2, "samples of " + s->samples.spec_text());
  if (o.channels != 0) expect(s->samples.shape()[1] == o.channels, "another number of channels");
  if (o.samples != 0) expect(s->samples.shape()[0] == o.samples, "another number of samples");
}

}  // namespace sluice::lib::fuzz
