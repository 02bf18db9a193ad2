// SPDX-License-Identifier: Apache-2.0
// Changes colors one row at a time: the row is converted to floats, changed, and converted back. Contrast first needs
// the means of all rows.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "format/image/image_checks.hpp"
#include "sluice/format/image_transforms.hpp"

namespace sluice::lib {
namespace detail {
namespace {

constexpr std::string_view kColoursFunction = "adjust_colours";

template <class T> void scale_row(const std::uint8_t* in, float* out, std::size_t count, float scale) noexcept {
  const T* values = reinterpret_cast<const T*>(in);
  for (std::size_t i = 0; i != count; ++i) out[i] = static_cast<float>(values[i]) * scale;
}

void row_to_floats(const std::uint8_t* in, lib::dtype type, float* out, std::size_t count) noexcept {
  if (type == dtype::uint8) scale_row<std::uint8_t>(in, out, count, 1.0f / 255);
  else if (type == dtype::uint16) scale_row<std::uint16_t>(in, out, count, 1.0f / 65535);
  else std::memcpy(out, in, count * sizeof(float));
}

/// The same as TensorFlow: scales by the largest number and a half, and truncates.
template <class T> void cut_row(const float* in, T* out, std::size_t count) noexcept {
  constexpr float kMost = std::is_same_v<T, std::uint8_t> ? 255.0f : 65535.0f;
  for (std::size_t i = 0; i != count; ++i)
    out[i] = static_cast<T>(static_cast<std::int32_t>(std::min(std::max(in[i] * (kMost + 0.5f), 0.0f), kMost)));
}

void row_from_floats(const float* in, lib::dtype type, std::uint8_t* out, std::size_t count) noexcept {
  if (type == dtype::uint8) cut_row(in, out, count);
  else if (type == dtype::uint16) cut_row(in, reinterpret_cast<std::uint16_t*>(out), count);
  else std::memcpy(out, in, count * sizeof(float));
}

/// Returns the hue in sixths of a turn, 0 … 6.
float hue_of(float r, float g, float b, float most, float least) noexcept {
  const float range = most - least;
  if (range <= 0) return 0;
  if (most == r) return g >= b ? (g - b) / range : 6 + (g - b) / range;
  if (most == g) return 2 + (b - r) / range;
  return 4 + (r - g) / range;
}

void colour_of(float hue, float most, float least, float* rgb) noexcept {
  // Each channel is a trapezoid over the hue: maximal for a third of the turn, minimal for a third, linear between.
  const float range = most - least;
  const auto part = [](float x) { return std::min(std::max(x, 0.0f), 1.0f); };
  rgb[0] = least + range * part(std::abs(hue - 3) - 1);
  rgb[1] = least + range * part(2 - std::abs(hue - 2));
  rgb[2] = least + range * part(2 - std::abs(hue - 4));
}

void change_saturation(float* rgb, float factor) noexcept {
  const float most = std::max({rgb[0], rgb[1], rgb[2]}), least = std::min({rgb[0], rgb[1], rgb[2]});
  const float hue = hue_of(rgb[0], rgb[1], rgb[2], most, least);
  const float saturation = most > 0 ? (most - least) / most : 0;
  const float changed = std::min(std::max(saturation * factor, 0.0f), 1.0f);
  colour_of(hue, most, most - changed * most, rgb);
}

void change_hue(float* rgb, float sixths) noexcept {
  const float most = std::max({rgb[0], rgb[1], rgb[2]}), least = std::min({rgb[0], rgb[1], rgb[2]});
  float hue = hue_of(rgb[0], rgb[1], rgb[2], most, least) + sixths;
  if (hue < 0) hue += 6;
  if (hue >= 6) hue -= 6;
  colour_of(hue, most, least, rgb);
}

void change_row(float* row, std::size_t pixels, std::size_t channels, const colour_changes& c, const float* means) {
  const std::size_t count = pixels * channels;
  if (c.brightness != 0)
    for (std::size_t i = 0; i != count; ++i) row[i] += c.brightness;
  if (means)
    for (std::size_t i = 0; i != count; i += channels)
      for (std::size_t k = 0; k != channels; ++k) row[i + k] = (row[i + k] - means[k]) * c.contrast + means[k];
  if (c.saturation != 1)
    for (std::size_t i = 0; i != count; i += 3) change_saturation(row + i, c.saturation);
  if (c.hue != 0)
    for (std::size_t i = 0; i != count; i += 3) change_hue(row + i, c.hue * 6);
}

/// Returns the mean of each channel, brightness included.
std::vector<float> channel_means(const image_view& pixels, float brightness, float* row) {
  const auto channels = static_cast<std::size_t>(pixels.channels), width = static_cast<std::size_t>(pixels.width);
  std::vector<double> sums(channels);
  for (int y = 0; y != pixels.height; ++y) {
    row_to_floats(pixels.row(y), pixels.type, row, width * channels);
    for (std::size_t i = 0; i != width * channels; i += channels)
      for (std::size_t k = 0; k != channels; ++k) sums[k] += row[i + k];
  }
  std::vector<float> means(channels);
  for (std::size_t k = 0; k != channels; ++k)
    means[k] = static_cast<float>(sums[k] / (static_cast<double>(width) * pixels.height)) + brightness;
  return means;
}

status check_colours(const image_view& pixels, const colour_changes& c) {
  if (status why = check_pixels(kColoursFunction, pixels); !why.ok()) return why;
  if ((c.saturation != 1 || c.hue != 0) && pixels.channels != 3)
    return image_error(kColoursFunction,
                       absl::StrCat("saturation and hue need 3 channels, not those of ", pixels.spec().text()));
  if (!(c.hue >= -1 && c.hue <= 1))
    return image_error(kColoursFunction, absl::StrCat("hue must be -1 to 1, not ", c.hue));
  if (!(c.saturation >= 0))
    return image_error(kColoursFunction, absl::StrCat("saturation must not be negative, as ", c.saturation));
  if (!std::isfinite(c.brightness) || !std::isfinite(c.contrast))
    return image_error(kColoursFunction, "brightness and contrast must be numbers");
  return {};
}

template <class T>
void normalize_row(const std::uint8_t* in, std::size_t pixels, std::size_t channels, const float* mean,
                   const float* inverse, float* out) noexcept {
  const T* values = reinterpret_cast<const T*>(in);
  if (channels == 3) {  // lets the compiler recognize the pattern
    for (std::size_t i = 0; i != pixels; ++i)
      for (std::size_t k = 0; k != 3; ++k)
        out[3 * i + k] = (static_cast<float>(values[3 * i + k]) - mean[k]) * inverse[k];
    return;
  }
  for (std::size_t i = 0; i != pixels; ++i)
    for (std::size_t k = 0; k != channels; ++k)
      out[channels * i + k] = (static_cast<float>(values[channels * i + k]) - mean[k]) * inverse[k];
}

}  // namespace
}  // namespace detail

result<tensor> adjust_colours(const image_view& pixels, const colour_changes& changes) {
  return detail::into_tensor([&](pixel_sink to) { return adjust_colours(pixels, changes, to); });
}

result<image_spec> adjust_colours(const image_view& pixels, const colour_changes& changes, pixel_sink to) {
  using namespace detail;
  if (status why = check_colours(pixels, changes); !why.ok()) return why;
  const image_spec spec = pixels.spec();
  if (status why = check_result(kColoursFunction, spec, {}); !why.ok()) return why;
  const auto channels = static_cast<std::size_t>(spec.channels), width = static_cast<std::size_t>(spec.width);
  auto row = std::make_unique_for_overwrite<float[]>(width * channels);
  std::vector<float> means;
  if (changes.contrast != 1) means = channel_means(pixels, changes.brightness, row.get());
  result<std::uint8_t*> out = to.room(spec);
  if (!out.ok()) return out.why();
  for (int y = 0; y != spec.height; ++y) {
    row_to_floats(pixels.row(y), pixels.type, row.get(), width * channels);
    change_row(row.get(), width, channels, changes, means.empty() ? nullptr : means.data());
    row_from_floats(row.get(), spec.type, *out + static_cast<std::size_t>(y) * spec.row_bytes(), width * channels);
  }
  return spec;
}

result<tensor> adjust_brightness(const image_view& pixels, float delta) {
  return adjust_colours(pixels, {.brightness = delta});
}
result<tensor> adjust_contrast(const image_view& pixels, float factor) {
  return adjust_colours(pixels, {.contrast = factor});
}
result<tensor> adjust_saturation(const image_view& pixels, float factor) {
  return adjust_colours(pixels, {.saturation = factor});
}
result<tensor> adjust_hue(const image_view& pixels, float delta) { return adjust_colours(pixels, {.hue = delta}); }

result<tensor> normalize(const image_view& pixels, std::span<const float> mean, std::span<const float> deviation) {
  return detail::into_tensor([&](pixel_sink to) { return normalize(pixels, mean, deviation, to); });
}

result<image_spec> normalize(const image_view& pixels, std::span<const float> mean, std::span<const float> deviation,
                             pixel_sink to) {
  using namespace detail;
  if (status why = check_pixels("normalize", pixels); !why.ok()) return why;
  const auto channels = static_cast<std::size_t>(pixels.channels);
  if (mean.size() != channels || deviation.size() != channels)
    return image_error("normalize", absl::StrCat(mean.size(), " means and ", deviation.size(), " deviations for ",
                                                 pixels.spec().text()));
  std::vector<float> inverse(channels);
  for (std::size_t k = 0; k != channels; ++k) {
    if (deviation[k] == 0) return image_error("normalize", "a deviation of 0");
    inverse[k] = 1 / deviation[k];
  }
  image_spec spec = pixels.spec();
  spec.type = dtype::float32;
  if (status why = check_result("normalize", spec, {}); !why.ok()) return why;
  result<std::uint8_t*> out = to.room(spec);
  if (!out.ok()) return out.why();
  const auto width = static_cast<std::size_t>(spec.width);
  const auto one_row = pixels.type == dtype::uint8    ? normalize_row<std::uint8_t>
                       : pixels.type == dtype::uint16 ? normalize_row<std::uint16_t>
                                                      : normalize_row<float>;
  for (int y = 0; y != spec.height; ++y)
    one_row(pixels.row(y), width, channels, mean.data(), inverse.data(),
            reinterpret_cast<float*>(*out + static_cast<std::size_t>(y) * spec.row_bytes()));
  return spec;
}

}  // namespace sluice::lib
