// SPDX-License-Identifier: Apache-2.0
// A crop while decoding has exactly the pixels of a crop after decoding, for every sampling of colors, at every offset.
#if SLUICE_HAVE_IMAGES
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "sluice/format/image_codecs.hpp"
#include "sluice/format/image_transforms.hpp"
#include "support/bytes/golden_cases.hpp"

namespace sluice::lib::jpeg_crop_test {
using namespace sluice::lib::test;

namespace {

struct file {
  std::string name, bytes;
};

/// The files of tests/golden/make_samplings.py.
std::vector<file> files() {
  std::vector<file> all;
  for (auto& entry : std::filesystem::directory_iterator(golden_images() / "sampling")) {
    std::ifstream in(entry.path(), std::ios::binary);
    all.push_back({entry.path().filename(), std::string(std::istreambuf_iterator<char>(in), {})});
  }
  return all;
}

/// Checks that decoding `box` yields the part of `whole`, the image decoded with the same options.
void check_box(const file& f, jpeg_options o, const tensor& whole, const image_box& box) {
  o.crop = box;
  const auto part = decode_jpeg(f.bytes, o);
  if (part.ok() && *part == *crop(whole, box)) return;
  INFO(f.name << " ratio " << o.ratio << (o.fancy_upscaling ? " fancy" : " plain") << " channels " << o.channels
              << " box " << box.y << "," << box.x << " " << box.height << "x" << box.width << ": "
              << part.why().to_string());
  REQUIRE(part.ok());
  CHECK(*part == *crop(whole, box));
}

/// Boxes that begin at every row and every column, of several sizes. Returns their number.
std::size_t check_boxes(const file& f, const jpeg_options& o) {
  const auto decoded = decode_jpeg(f.bytes, o);
  INFO(f.name << ": " << decoded.why().to_string());
  REQUIRE(decoded.ok());
  const int height = static_cast<int>(decoded->shape()[0]), width = static_cast<int>(decoded->shape()[1]);
  std::size_t boxes = 0;
  const auto check = [&](int y, int x, int size) {
    check_box(f, o, *decoded, {y, x, std::min(size, height - y), std::min(size + 1, width - x)});
    ++boxes;
  };
  for (int size : {1, 6, 34}) {
    for (int x = 0; x < width; ++x) check(x * 5 % height, x, size);
    for (int y = 0; y < height; ++y) check(y, y * 7 % width, size);
  }
  return boxes;
}

}  // namespace

TEST_CASE("decoding a part of a JPEG yields the pixels of decoding it and then cropping") {
  if (!is_available(image_format::jpeg)) return;
  const auto all = files();
  CHECK(all.size() == 23);
  std::size_t boxes = 0;
  for (const file& f : all)
    for (bool fancy : {true, false}) {
      for (int ratio : {1, 2, 4, 8}) boxes += check_boxes(f, {.ratio = ratio, .fancy_upscaling = fancy});
      boxes += check_boxes(f, {.channels = 1, .fancy_upscaling = fancy});
      boxes += check_boxes(f, {.dct = jpeg_dct::accurate, .fancy_upscaling = fancy});
    }
  CHECK(boxes > 60'000);
}

TEST_CASE("a recovered part of a JPEG is the part of the recovered image") {
  if (!is_available(image_format::jpeg)) return;
  for (const file& f : files())
    for (std::size_t percent : {35u, 60u, 85u}) {
      const file cut{f.name + " cut", f.bytes.substr(0, f.bytes.size() * percent / 100)};
      const jpeg_options o{.try_recover_truncated = true};
      const auto whole = decode_jpeg(cut.bytes, o);
      if (!whole.ok()) continue;  // the data end in the header
      for (int y = 0; y < 70; y += 3) check_box(cut, o, *whole, {y, 20, 70 - y, 9});
    }
}

TEST_CASE("every box of a small JPEG is the part of the image") {
  if (!is_available(image_format::jpeg)) return;
  const golden_cases golden;
  std::size_t boxes = 0;
  for (auto* c : golden.of("decode_jpeg")) {
    if (!c->contains("shape") || c->size() != 6) continue;  // decoded with the default options
    const file f{c->at("name"), std::string(golden.blob(c->at("encoded")))};
    const tensor whole = decode_jpeg(f.bytes).value();
    const int height = static_cast<int>(whole.shape()[0]), width = static_cast<int>(whole.shape()[1]);
    for (int y = 0; y < height; y += 1 + height / 5)
      for (int x = 0; x < width; x += 1 + width / 7)
        for (int h = 1; h <= height - y; h += 1 + height / 4)
          for (int w = 1; w <= width - x; w += 1 + width / 4, ++boxes) check_box(f, {}, whole, {y, x, h, w});
  }
  CHECK(boxes > 3'000);
}

}  // namespace sluice::lib::jpeg_crop_test

#endif
