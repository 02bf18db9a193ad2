// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/image.hpp"

#include <absl/strings/str_cat.h>

#include <limits>

#include "format/image/image_checks.hpp"

namespace sluice::lib {

tensor_spec image_spec::tensor() const {
  const tensor_shape shape{height, width, channels};
  return {type, frames == 0 ? shape : shape.below(frames)};
}

image_view::image_view(const tensor& image) : type(image.dtype()) {
  if (image.rank() != 3 || (type != dtype::uint8 && type != dtype::uint16 && type != dtype::float32))
    throw error(invalid_argument_error(absl::StrCat(
        image.spec_text(), " is no image: these are uint8, uint16 or float32 of [height, width, channels]")));
  for (std::int64_t dim : image.shape())
    if (dim > std::numeric_limits<int>::max())
      throw error(invalid_argument_error(absl::StrCat(image.spec_text(), " is too large for an image")));
  data = reinterpret_cast<const std::uint8_t*>(image.data());
  height = static_cast<int>(image.shape()[0]);
  width = static_cast<int>(image.shape()[1]);
  channels = static_cast<int>(image.shape()[2]);
  row_bytes = spec().row_bytes();
}

result<std::uint8_t*> pixel_sink::room(const image_spec& spec) const {
  std::uint8_t* p = call_(context_, spec);
  if (!p) return resource_exhausted_error(absl::StrCat("no room was given for ", spec.text()));
  return p;
}

namespace detail {

status image_error(std::string_view function, std::string_view what) {
  return invalid_argument_error(absl::StrCat(std::string(function), ": ", std::string(what)));
}

status image_damage(std::string_view function, std::string_view what, std::size_t at_byte) {
  return data_loss_error(absl::StrCat(std::string(function), ": ", std::string(what), " at byte ", at_byte));
}

status image_truncated(std::string_view function, std::size_t at_byte) {
  return image_damage(function, "premature end of the data", at_byte);
}

status image_unavailable(std::string_view function, std::string_view library) {
  return unimplemented_error(
      absl::StrCat(std::string(function), ": sluice-images was built without ", std::string(library)));
}

status check_encoded(std::string_view function, std::string_view encoded, const image_limits& limits) {
  if (encoded.empty()) return image_error(function, "there are no bytes");
  if (encoded.size() > limits.encoded_bytes_max)
    return element_limit_error(absl::StrCat(std::string(function), ": ", encoded.size(),
                                                 " bytes are above the limit of ", limits.encoded_bytes_max,
                                                 " (encoded_bytes_max)"));
  return {};
}

status check_size(std::string_view function, std::uint64_t height, std::uint64_t width, std::uint64_t frames,
                  const image_limits& limits) {
  if (height == 0 || width == 0)
    return image_error(function, absl::StrCat("an image of ", height, " rows and ", width, " columns"));
  const auto side_max = static_cast<std::uint64_t>(limits.side_max);
  const auto pixels_max = static_cast<std::uint64_t>(limits.pixels_max);
  if (height > side_max || width > side_max)
    return element_limit_error(absl::StrCat(std::string(function), ": ", height, " x ", width,
                                                 " pixels: a side is above the limit of ", side_max, " (side_max)"));
  // Sides have 31 bits at most, so their product fits.
  if (height * width > pixels_max || frames > pixels_max / (height * width))
    return element_limit_error(
        absl::StrCat(std::string(function), ": ", frames == 1 ? std::string() : absl::StrCat(frames, " x "), height,
                     " x ", width, " pixels are above the limit of ", pixels_max, " (pixels_max)"));
  return {};
}

status check_result(std::string_view function, const image_spec& spec, const image_limits& limits) {
  // The limit is divided, since it is the caller's, and the product may exceed 64 bits.
  if (spec.frame_bytes() > limits.bytes_max ||
      static_cast<std::size_t>(spec.frames) > limits.bytes_max / spec.frame_bytes())
    return element_limit_error(absl::StrCat(std::string(function), ": ", spec.text(), " is above the limit of ",
                                                 limits.bytes_max, " bytes (bytes_max)"));
  return {};
}

status check_pixels(std::string_view function, const image_view& pixels) {
  if (pixels.type != dtype::uint8 && pixels.type != dtype::uint16 && pixels.type != dtype::float32)
    return image_error(function, absl::StrCat("takes uint8, uint16 and float32, not ", pixels.spec().text()));
  if (pixels.data && pixels.height > 0 && pixels.width > 0 && pixels.channels > 0) return {};
  return image_error(function, absl::StrCat("an image without pixels: ", pixels.spec().text()));
}

status check_box(std::string_view function, const image_box& box, int height, int width) {
  if (box.y >= 0 && box.x >= 0 && box.height > 0 && box.width > 0 && box.y <= height - box.height &&
      box.x <= width - box.width)
    return {};
  return image_error(function, absl::StrCat("the box of ", box.height, " x ", box.width, " at row ", box.y, ", column ",
                                            box.x, " is not inside of ", height, " x ", width, " pixels"));
}

}  // namespace detail
}  // namespace sluice::lib
