// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

#include "format/image/image_checks.hpp"
#include "sluice/format/image_transforms.hpp"

namespace sluice::lib {
namespace detail {
namespace {

constexpr int kBoxesTried = 10;  // as in torchvision; each draws four words

double uniform_between(double low, double high, random_source& random) { return low + (high - low) * random.uniform(); }

/// Returns the largest centered box that is neither too wide nor too high.
image_box middle_box(int height, int width, const random_box_options& o) {
  const double ratio = static_cast<double>(width) / height;
  int h = height, w = width;
  if (ratio < o.ratio_min) h = std::clamp(static_cast<int>(std::lround(width / o.ratio_min)), 1, height);
  else if (ratio > o.ratio_max) w = std::clamp(static_cast<int>(std::lround(height * o.ratio_max)), 1, width);
  return {.y = (height - h) / 2, .x = (width - w) / 2, .height = h, .width = w};
}

}  // namespace
}  // namespace detail

result<image_box> random_crop_box(const image_spec& spec, int height, int width, random_source& random) {
  // Drawn first, so that a box that does not fit draws the same number of words.
  const std::uint64_t y = random(), x = random();
  const image_box corner{.height = height, .width = width};
  if (status why = detail::check_box("random_crop", corner, spec.height, spec.width); !why.ok()) return why;
  const auto below = [](std::uint64_t word, int n) {
    __extension__ using wide = unsigned __int128;
    return static_cast<int>(static_cast<wide>(word) * static_cast<unsigned>(n) >> 64);
  };
  return image_box{
      .y = below(y, spec.height - height + 1), .x = below(x, spec.width - width + 1), .height = height, .width = width};
}

result<tensor> random_crop(const image_view& pixels, int height, int width, random_source& random) {
  return detail::into_tensor([&](pixel_sink to) { return random_crop(pixels, height, width, random, to); });
}
result<image_spec> random_crop(const image_view& pixels, int height, int width, random_source& random, pixel_sink to) {
  result<image_box> box = random_crop_box(pixels.spec(), height, width, random);
  if (!box.ok()) return box.why();
  return crop(pixels, *box, to);
}

result<image_box> random_resized_crop_box(const image_spec& spec, const random_box_options& o, random_source& random) {
  using namespace detail;
  if (spec.height <= 0 || spec.width <= 0)
    return image_error("random_resized_crop", absl::StrCat("an image without pixels: ", spec.text()));
  if (!(o.area_min > 0 && o.area_min <= o.area_max && o.area_max <= 1))
    return image_error("random_resized_crop",
                       absl::StrCat("areas of ", o.area_min, " to ", o.area_max, " are not within 0 to 1"));
  if (!(o.ratio_min > 0 && o.ratio_min <= o.ratio_max && std::isfinite(o.ratio_max)))
    return image_error("random_resized_crop", absl::StrCat("ratios of ", o.ratio_min, " to ", o.ratio_max));
  const double area = static_cast<double>(spec.height) * spec.width;
  image_box found;
  for (int i = 0; i != kBoxesTried; ++i) {  // without an early end, so that the number of words is constant
    const double wanted = area * uniform_between(o.area_min, o.area_max, random);
    const double ratio = std::exp(uniform_between(std::log(o.ratio_min), std::log(o.ratio_max), random));
    const double at_y = random.uniform(), at_x = random.uniform();
    if (!found.is_all()) continue;
    const double width = std::round(std::sqrt(wanted * ratio)), height = std::round(std::sqrt(wanted / ratio));
    if (!(width >= 1 && width <= spec.width && height >= 1 && height <= spec.height)) continue;
    found.height = static_cast<int>(height);
    found.width = static_cast<int>(width);
    found.y = static_cast<int>(at_y * (spec.height - found.height + 1));
    found.x = static_cast<int>(at_x * (spec.width - found.width + 1));
  }
  return found.is_all() ? middle_box(spec.height, spec.width, o) : found;
}

result<tensor> random_resized_crop(const image_view& pixels, const random_resized_crop_options& options,
                                   random_source& random) {
  return detail::into_tensor([&](pixel_sink to) { return random_resized_crop(pixels, options, random, to); });
}
result<image_spec> random_resized_crop(const image_view& pixels, const random_resized_crop_options& options,
                                       random_source& random, pixel_sink to) {
  result<image_box> box = random_resized_crop_box(pixels.spec(), options.box, random);
  if (!box.ok()) return box.why();
  return resize(pixels.crop(*box), options.size, to);
}

result<tensor> random_flip_left_right(const image_view& pixels, random_source& random) {
  return detail::into_tensor([&](pixel_sink to) { return random_flip_left_right(pixels, random, to); });
}
result<image_spec> random_flip_left_right(const image_view& pixels, random_source& random, pixel_sink to) {
  return random.below(2) == 1 ? flip_left_right(pixels, to) : copy_pixels(pixels, to);
}

result<tensor> random_flip_up_down(const image_view& pixels, random_source& random) {
  return detail::into_tensor([&](pixel_sink to) { return random_flip_up_down(pixels, random, to); });
}
result<image_spec> random_flip_up_down(const image_view& pixels, random_source& random, pixel_sink to) {
  return random.below(2) == 1 ? flip_up_down(pixels, to) : copy_pixels(pixels, to);
}

result<colour_changes> random_colours(const colour_jitter_options& o, random_source& random) {
  if (!(o.brightness >= 0) || !(o.contrast_min >= 0 && o.contrast_min <= o.contrast_max) ||
      !(o.saturation_min >= 0 && o.saturation_min <= o.saturation_max) || !(o.hue >= 0 && o.hue <= 0.5f))
    return detail::image_error("colour_jitter",
                               "brightness, contrast and saturation must not be negative, a minimum not above its "
                               "maximum, and hue 0 to 0.5");
  const auto between = [&](float low, float high) {
    return static_cast<float>(detail::uniform_between(low, high, random));
  };
  colour_changes c;
  c.brightness = between(-o.brightness, o.brightness);
  c.contrast = between(o.contrast_min, o.contrast_max);
  c.saturation = between(o.saturation_min, o.saturation_max);
  c.hue = between(-o.hue, o.hue);
  return c;
}

result<tensor> colour_jitter(const image_view& pixels, const colour_jitter_options& options, random_source& random) {
  return detail::into_tensor([&](pixel_sink to) { return colour_jitter(pixels, options, random, to); });
}
result<image_spec> colour_jitter(const image_view& pixels, const colour_jitter_options& options, random_source& random,
                                 pixel_sink to) {
  result<colour_changes> c = random_colours(options, random);
  if (!c.ok()) return c.why();
  return adjust_colours(pixels, *c, to);
}

}  // namespace sluice::lib
