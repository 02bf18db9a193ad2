// SPDX-License-Identifier: Apache-2.0
// Arguments are those of plan text: int64, double, texts. A text that names an option is checked for each element.
#include <absl/strings/str_cat.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/base/small_file.hpp"
#include "sluice/engine/detail/image_functions.hpp"
#include "sluice/engine/register.hpp"
#include "sluice/format/image_codecs.hpp"
#include "sluice/format/image_transforms.hpp"
#include "sluice/format/wav.hpp"

namespace sluice::lib {
namespace {

using int64 = std::int64_t;
using text = std::string;

template <class F> void add(std::string_view name, F f) { register_overload(name, 1, std::move(f)); }

/// Narrows a number of a plan, which has 64 bits. A number out of range is an error of the element.
int narrow(int64 n) {
  if (n < std::numeric_limits<int>::min() || n > std::numeric_limits<int>::max())
    throw_status(invalid_argument_error(absl::StrCat(n, " is too large for a number of pixels")));
  return static_cast<int>(n);
}

image_box box_of(int64 y, int64 x, int64 height, int64 width) {
  return {.y = narrow(y), .x = narrow(x), .height = narrow(height), .width = narrow(width)};
}

frame_choice frames_of(const text& name) {
  if (name == "first") return frame_choice::first;
  if (name == "all") return frame_choice::all;
  throw_status(invalid_argument_error(absl::StrCat("frames are \"first\" or \"all\", and not \"", name, "\"")));
}

resize_method method_of(const text& name) {
  for (auto m : {resize_method::nearest, resize_method::bilinear, resize_method::area, resize_method::bicubic})
    if (name == to_string(m)) return m;
  throw_status(
      invalid_argument_error(absl::StrCat("resize is nearest, bilinear, area or bicubic, and not \"", name, "\"")));
}

std::vector<float> floats_of(const std::vector<double>& values) { return {values.begin(), values.end()}; }

void add_decoders() {
  add("decode_jpeg", [](const text& s) { return decode_jpeg(s); });
  add("decode_jpeg", [](const text& s, int64 channels) { return decode_jpeg(s, {.channels = narrow(channels)}); });
  // The image is scaled while it is decoded, to at least this number of rows and columns.
  add("decode_jpeg", [](const text& s, int64 channels, int64 height_min, int64 width_min) {
    return decode_jpeg(
        s, {.channels = narrow(channels), .height_min = narrow(height_min), .width_min = narrow(width_min)});
  });
  add("decode_and_crop_jpeg", [](const text& s, int64 y, int64 x, int64 height, int64 width) {
    return decode_jpeg(s, {.crop = box_of(y, x, height, width)});
  });
  add("decode_png", [](const text& s) { return decode_png(s); });
  add("decode_png", [](const text& s, int64 channels) { return decode_png(s, {.channels = narrow(channels)}); });
  add("decode_png", [](const text& s, int64 channels, const text& type) {
    png_options o{.channels = narrow(channels)};
    if (type != "uint8" && type != "uint16")
      throw_status(invalid_argument_error(absl::StrCat("decode_png makes uint8 or uint16, and no ", type)));
    if (type == "uint16") o.type = dtype::uint16;
    return decode_png(s, o);
  });
  add("decode_webp", [](const text& s) { return decode_webp(s); });
  add("decode_webp", [](const text& s, int64 channels) { return decode_webp(s, {.channels = narrow(channels)}); });
  add("decode_webp", [](const text& s, int64 channels, const text& frames) {
    return decode_webp(s, {.channels = narrow(channels), .frames = frames_of(frames)});
  });
  add("decode_gif", [](const text& s) { return decode_gif(s); });
  add("decode_gif", [](const text& s, const text& frames) { return decode_gif(s, {.frames = frames_of(frames)}); });
  add("decode_bmp", [](const text& s) { return decode_bmp(s); });
  add("decode_bmp", [](const text& s, int64 channels) { return decode_bmp(s, {.channels = narrow(channels)}); });
  add("decode_image", [](const text& s) { return decode_image(s); });
  add("decode_image", [](const text& s, int64 channels) { return decode_image(s, {.channels = narrow(channels)}); });
  add("decode_wav", [](const text& s) { return decode_wav(s); });
  add("decode_wav", [](const text& s, int64 channels, int64 samples) {
    return decode_wav(s, {.channels = narrow(channels), .samples = samples});
  });
  add("read_file", [](const text& path) { return read_small_file(path, std::size_t{1} << 29); });
}

void add_encoders() {
  add("encode_jpeg", [](const tensor& t) { return encode_jpeg(t); });
  add("encode_jpeg", [](const tensor& t, int64 quality) { return encode_jpeg(t, {.quality = narrow(quality)}); });
  add("encode_png", [](const tensor& t) { return encode_png(t); });
}

void add_transforms() {
  add("resize", [](const tensor& t, int64 height, int64 width) {
    return resize(t, {.height = narrow(height), .width = narrow(width)});
  });
  add("resize", [](const tensor& t, int64 height, int64 width, const text& method) {
    return resize(t, {.height = narrow(height), .width = narrow(width), .method = method_of(method)});
  });
  add("resize", [](const tensor& t, int64 height, int64 width, const text& method, bool antialias) {
    return resize(
        t, {.height = narrow(height), .width = narrow(width), .method = method_of(method), .antialias = antialias});
  });
  // The result has the type of the pixels instead of float32.
  add("resize_rounded", [](const tensor& t, int64 height, int64 width, const text& method, bool antialias) {
    return resize(t, {.height = narrow(height),
                      .width = narrow(width),
                      .method = method_of(method),
                      .antialias = antialias,
                      .rounded = true});
  });
  add("crop", [](const tensor& t, int64 y, int64 x, int64 height, int64 width) {
    return crop(t, box_of(y, x, height, width));
  });
  add("central_crop", [](const tensor& t, double fraction) { return central_crop(t, fraction); });
  add("flip_left_right", [](const tensor& t) { return flip_left_right(t); });
  add("flip_up_down", [](const tensor& t) { return flip_up_down(t); });
  add("adjust_brightness", [](const tensor& t, double by) { return adjust_brightness(t, static_cast<float>(by)); });
  add("adjust_contrast", [](const tensor& t, double by) { return adjust_contrast(t, static_cast<float>(by)); });
  add("adjust_saturation", [](const tensor& t, double by) { return adjust_saturation(t, static_cast<float>(by)); });
  add("adjust_hue", [](const tensor& t, double by) { return adjust_hue(t, static_cast<float>(by)); });
  add("normalize", [](const tensor& t, const std::vector<double>& mean, const std::vector<double>& deviation) {
    return normalize(t, floats_of(mean), floats_of(deviation));
  });
}

void add_random() {
  add("random_crop", [](const tensor& t, int64 height, int64 width, random_source& random) {
    return random_crop(t, narrow(height), narrow(width), random);
  });
  add("random_resized_crop", [](const tensor& t, int64 height, int64 width, random_source& random) {
    return random_resized_crop(t, {.size = {.height = narrow(height), .width = narrow(width)}}, random);
  });
  add("random_flip_left_right",
      [](const tensor& t, random_source& random) { return random_flip_left_right(t, random); });
  add("random_flip_up_down", [](const tensor& t, random_source& random) { return random_flip_up_down(t, random); });
  // Changes each property by up to its argument in either direction.
  add("colour_jitter",
      [](const tensor& t, double brightness, double contrast, double saturation, double hue, random_source& random) {
        colour_jitter_options o;
        o.brightness = static_cast<float>(brightness);
        o.contrast_min = static_cast<float>(1 - contrast);
        o.contrast_max = static_cast<float>(1 + contrast);
        o.saturation_min = static_cast<float>(1 - saturation);
        o.saturation_max = static_cast<float>(1 + saturation);
        o.hue = static_cast<float>(hue);
        return colour_jitter(t, o, random);
      });
}

}  // namespace

void register_image_functions() {
  add_decoders();
  add_encoders();
  add_transforms();
  add_random();
}

}  // namespace sluice::lib
