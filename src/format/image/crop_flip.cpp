// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>

#include "format/image/image_checks.hpp"
#include "sluice/format/image_transforms.hpp"

namespace sluice::lib {
namespace detail {
namespace {

template <std::size_t kBytes>
void reverse_row(const std::uint8_t* in, std::uint8_t* out, std::size_t count, std::size_t pixel) noexcept {
  const std::size_t size = kBytes != 0 ? kBytes : pixel;
  in += (count - 1) * size;
  for (std::size_t i = 0; i != count; ++i, in -= size, out += size) std::memcpy(out, in, size);
}

/// Writes each row of `pixels` with `write(from, to)`.
template <class Write>
result<image_spec> write_rows(std::string_view function, const image_view& pixels, pixel_sink to, Write write) {
  if (status why = check_pixels(function, pixels); !why.ok()) return why;
  const image_spec spec = pixels.spec();
  if (status why = check_result(function, spec, {}); !why.ok()) return why;
  result<std::uint8_t*> out = to.room(spec);
  if (!out.ok()) return out.why();
  for (int y = 0; y != spec.height; ++y) write(y, *out + static_cast<std::size_t>(y) * spec.row_bytes());
  return spec;
}

}  // namespace
}  // namespace detail

result<image_view> crop_view(const image_view& pixels, const image_box& box) {
  if (status why = detail::check_box("crop", box, pixels.height, pixels.width); !why.ok()) return why;
  return pixels.crop(box);
}

result<tensor> crop(const image_view& pixels, const image_box& box) {
  return detail::into_tensor([&](pixel_sink to) { return crop(pixels, box, to); });
}
result<image_spec> crop(const image_view& pixels, const image_box& box, pixel_sink to) {
  result<image_view> part = crop_view(pixels, box);
  if (!part.ok()) return part.why();
  return copy_pixels(*part, to);
}

result<tensor> central_crop(const image_view& pixels, double fraction) {
  return detail::into_tensor([&](pixel_sink to) { return central_crop(pixels, fraction, to); });
}
result<image_spec> central_crop(const image_view& pixels, double fraction, pixel_sink to) {
  result<image_box> box = central_crop_box(pixels.spec(), fraction);
  if (!box.ok()) return box.why();
  return crop(pixels, *box, to);
}

result<image_box> central_crop_box(const image_spec& spec, double fraction) {
  if (spec.height <= 0 || spec.width <= 0)
    return detail::image_error("central_crop", absl::StrCat("an image without pixels: ", spec.text()));
  if (!(fraction > 0 && fraction <= 1))
    return detail::image_error("central_crop", absl::StrCat("fraction must be above 0 and at most 1, not ", fraction));
  const auto start = [fraction](int size) { return static_cast<int>((size - size * fraction) / 2); };
  const int y = start(spec.height), x = start(spec.width);
  return image_box{.y = y, .x = x, .height = spec.height - 2 * y, .width = spec.width - 2 * x};
}

result<tensor> copy_pixels(const image_view& pixels) {
  return detail::into_tensor([&](pixel_sink to) { return copy_pixels(pixels, to); });
}
result<image_spec> copy_pixels(const image_view& pixels, pixel_sink to) {
  const std::size_t row_bytes = pixels.spec().row_bytes();
  return detail::write_rows("copy_pixels", pixels, to,
                            [&](int y, std::uint8_t* row) { std::memcpy(row, pixels.row(y), row_bytes); });
}

result<tensor> flip_left_right(const image_view& pixels) {
  return detail::into_tensor([&](pixel_sink to) { return flip_left_right(pixels, to); });
}
result<image_spec> flip_left_right(const image_view& pixels, pixel_sink to) {
  const auto width = static_cast<std::size_t>(pixels.width);
  const std::size_t pixel = static_cast<std::size_t>(pixels.channels) * size_bytes(pixels.type);
  const auto reverse = pixel == 1    ? detail::reverse_row<1>
                       : pixel == 3  ? detail::reverse_row<3>
                       : pixel == 4  ? detail::reverse_row<4>
                       : pixel == 12 ? detail::reverse_row<12>
                                     : detail::reverse_row<0>;
  return detail::write_rows("flip_left_right", pixels, to,
                            [&](int y, std::uint8_t* row) { reverse(pixels.row(y), row, width, pixel); });
}

result<tensor> flip_up_down(const image_view& pixels) {
  return detail::into_tensor([&](pixel_sink to) { return flip_up_down(pixels, to); });
}
result<image_spec> flip_up_down(const image_view& pixels, pixel_sink to) {
  const std::size_t row_bytes = pixels.spec().row_bytes();
  return detail::write_rows("flip_up_down", pixels, to, [&](int y, std::uint8_t* row) {
    std::memcpy(row, pixels.row(pixels.height - 1 - y), row_bytes);
  });
}

}  // namespace sluice::lib
