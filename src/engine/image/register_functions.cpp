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

/// Version 2: the pixels of some BMPs, GIFs, PNGs and crops of JPEGs, and what positional options mean, changed.
template <class F> void add(std::string_view name, F f, int version = 1) {
  register_overload(name, version, std::move(f));
}

// Options, which calls may name: those with the names of TensorFlow's arguments mean the same.

struct jpeg_arguments {
  int64 channels = 0, height_min = 0, width_min = 0, ratio = 1;
  bool fancy_upscaling = true, try_recover_truncated = false;
  double acceptable_fraction = 1;
  text dct_method = "";
  bool apply_orientation = false;
};
struct image_arguments {
  int64 channels = 0;
  text frames = "first";
  bool try_recover_truncated = false;
  double acceptable_fraction = 1;
  text dct_method = "";
  bool apply_orientation = false;
};
struct png_arguments {
  int64 channels = 0;
  text dtype = "uint8";
  bool apply_orientation = false;
};
struct webp_arguments {
  int64 channels = 0;
  text frames = "first";
  bool apply_orientation = false;
};
struct gif_arguments {
  text frames = "first";
  int64 channels = 0;
};
struct bmp_arguments {
  int64 channels = 0;
};
struct wav_arguments {
  int64 channels = 0, samples = 0;
};
struct jpeg_encode_arguments {
  int64 quality = 95;
  bool progressive = false, optimize_size = false, chroma_downsampling = true;
};
struct png_encode_arguments {
  int64 compression = -1;
};
struct resize_arguments {
  text method = "bilinear";
  bool antialias = false, preserve_aspect_ratio = false;
};

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

/// TensorFlow's names, and those of jpeg_dct.
jpeg_dct dct_of(const text& name) {
  if (name.empty() || name == "INTEGER_FAST" || name == "fast") return jpeg_dct::fast;
  if (name == "INTEGER_ACCURATE" || name == "accurate") return jpeg_dct::accurate;
  throw_status(invalid_argument_error(absl::StrCat(
      "dct_method is \"INTEGER_FAST\", \"INTEGER_ACCURATE\" or \"\", which is fast, and not \"", name, "\"")));
}

jpeg_options options_of(const jpeg_arguments& a) {
  return {.channels = narrow(a.channels),
          .ratio = narrow(a.ratio),
          .height_min = narrow(a.height_min),
          .width_min = narrow(a.width_min),
          .dct = dct_of(a.dct_method),
          .fancy_upscaling = a.fancy_upscaling,
          .try_recover_truncated = a.try_recover_truncated,
          .acceptable_fraction = a.acceptable_fraction,
          .apply_orientation = a.apply_orientation};
}

resize_options options_of(const resize_arguments& a, int64 height, int64 width, bool rounded) {
  return {.height = narrow(height),
          .width = narrow(width),
          .method = method_of(a.method),
          .antialias = a.antialias,
          .preserve_aspect_ratio = a.preserve_aspect_ratio,
          .rounded = rounded};
}

std::vector<float> floats_of(const std::vector<double>& values) { return {values.begin(), values.end()}; }

void add_decoders() {
  constexpr int kCorrected = 2, kTurned = 3;  // 3: PNG and WebP are turned, too
  add("decode_jpeg", [](const text& s, const jpeg_arguments& a) { return decode_jpeg(s, options_of(a)); }, kCorrected);
  add(
      "decode_and_crop_jpeg",
      [](const text& s, int64 y, int64 x, int64 height, int64 width, const jpeg_arguments& a) {
        jpeg_options o = options_of(a);
        o.crop = box_of(y, x, height, width);
        return decode_jpeg(s, o);
      },
      kCorrected);
  add(
      "decode_png",
      [](const text& s, const png_arguments& a) {
        if (a.dtype != "uint8" && a.dtype != "uint16")
          throw_status(invalid_argument_error(absl::StrCat("decode_png makes uint8 or uint16, and no ", a.dtype)));
        return decode_png(s, {.channels = narrow(a.channels),
                              .type = a.dtype == "uint16" ? dtype::uint16 : dtype::uint8,
                              .apply_orientation = a.apply_orientation});
      },
      kCorrected);
  add("decode_webp", [](const text& s, const webp_arguments& a) {
    return decode_webp(
        s, {.channels = narrow(a.channels), .frames = frames_of(a.frames), .apply_orientation = a.apply_orientation});
  });
  add(
      "decode_gif",
      [](const text& s, const gif_arguments& a) {
        return decode_gif(s, {.channels = narrow(a.channels), .frames = frames_of(a.frames)});
      },
      kCorrected);
  add(
      "decode_bmp",
      [](const text& s, const bmp_arguments& a) { return decode_bmp(s, {.channels = narrow(a.channels)}); },
      kCorrected);
  add(
      "decode_image",
      [](const text& s, const image_arguments& a) {
        return decode_image(s, {.channels = narrow(a.channels),
                                .frames = frames_of(a.frames),
                                .dct = dct_of(a.dct_method),
                                .try_recover_truncated = a.try_recover_truncated,
                                .acceptable_fraction = a.acceptable_fraction,
                                .apply_orientation = a.apply_orientation});
      },
      kTurned);
  add("decode_wav", [](const text& s, const wav_arguments& a) {
    return decode_wav(s, {.channels = narrow(a.channels), .samples = a.samples});
  });
  add("read_file", [](const text& path) { return read_small_file(path, std::size_t{1} << 29); });
}

void add_encoders() {
  add("encode_jpeg", [](const tensor& t, const jpeg_encode_arguments& a) {
    return encode_jpeg(t, {.quality = narrow(a.quality),
                           .progressive = a.progressive,
                           .optimize = a.optimize_size,
                           .downsample_chroma = a.chroma_downsampling});
  });
  add("encode_png",
      [](const tensor& t, const png_encode_arguments& a) { return encode_png(t, narrow(a.compression)); });
}

void add_transforms() {
  add("resize", [](const tensor& t, int64 height, int64 width, const resize_arguments& a) {
    return resize(t, options_of(a, height, width, false));
  });
  // The result has the type of the pixels instead of float32.
  add("resize_rounded", [](const tensor& t, int64 height, int64 width, const resize_arguments& a) {
    return resize(t, options_of(a, height, width, true));
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
  for (auto* options :
       {&type_of<jpeg_arguments>(), &type_of<image_arguments>(), &type_of<png_arguments>(), &type_of<webp_arguments>(),
        &type_of<gif_arguments>(), &type_of<bmp_arguments>(), &type_of<wav_arguments>(),
        &type_of<jpeg_encode_arguments>(), &type_of<png_encode_arguments>(), &type_of<resize_arguments>()})
    accept_by_name(*options);
  add_decoders();
  add_encoders();
  add_transforms();
  add_random();
}

}  // namespace sluice::lib
