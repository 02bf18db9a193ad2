// SPDX-License-Identifier: Apache-2.0
// EXIF orientations of PNG and WebP, against Pillow's ImageOps.exif_transpose (tests/golden/make_orientations.py).
#if SLUICE_HAVE_IMAGES
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>

#include "sluice/format/image_codecs.hpp"
#include "support/bytes/golden_cases.hpp"

namespace sluice::lib::orientation_test {
namespace {

std::string bytes_of(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

/// The pixels of an image or an animation.
std::string pixels_of(const result<tensor>& t) {
  INFO(t.why().to_string());
  REQUIRE(t.ok());
  return {t->data(), t->size_bytes()};
}

}  // namespace

TEST_CASE("PNGs and WebPs are turned as Pillow turns them") {
  const auto cases = nlohmann::json::parse(std::ifstream(test::golden_images() / "orientations.json"));
  CHECK(cases.size() >= 38);
  std::size_t turned_count = 0;
  for (const auto& c : cases) {
    const std::string encoded = bytes_of(c.at("encoded")), want = bytes_of(c.at("pixels"));
    const image_format format = image_format_of(encoded);
    if (!is_available(format)) continue;
    INFO(c.at("name"));
    const auto shape = c.at("shape").get<std::vector<std::int64_t>>();
    const frame_choice frames = shape[0] == 1 ? frame_choice::first : frame_choice::all;
    const tensor_shape wanted =
        frames == frame_choice::all ? tensor_shape(shape) : tensor_shape({shape[1], shape[2], shape[3]});
    const auto any = decode_image(encoded, {.frames = frames, .apply_orientation = true});
    CHECK(pixels_of(any) == want);
    CHECK(any->spec().shape == wanted);
    const auto stored = decode_image(encoded, {.frames = frames});
    turned_count += pixels_of(stored) != want;
    if (format == image_format::png) {
      CHECK(decode_png(encoded, {.apply_orientation = true}).value() == *any);
      const result<tensor> wide =
          decode_png(encoded, {.channels = 1, .type = dtype::uint16, .apply_orientation = true});
      CHECK(wide->spec().shape == tensor_shape({shape[1], shape[2], 1}));
    } else {
      CHECK(decode_webp(encoded, {.frames = frames, .apply_orientation = true}).value() == *any);
      const auto cut = decode_webp(encoded.substr(0, encoded.size() / 2), {.apply_orientation = true});
      CHECK(!cut.ok());
    }
  }
  if (is_available(image_format::png) && is_available(image_format::webp)) CHECK(turned_count >= 25);
}

}  // namespace sluice::lib::orientation_test

#endif
