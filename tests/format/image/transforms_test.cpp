// SPDX-License-Identifier: Apache-2.0
#if SLUICE_HAVE_IMAGES
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <map>

#include "sluice/format/image_codecs.hpp"
#include "sluice/format/image_transforms.hpp"
#include "support/random/random_numbers.hpp"

namespace sluice::lib::transforms_test {

namespace {

/// A slope with a little noise, as photographs are.
tensor slope(std::int64_t height, std::int64_t width, std::int64_t channels, dtype type = dtype::uint8) {
  tensor t = tensor::make(type, {height, width, channels});
  test::random_numbers random(static_cast<std::uint64_t>(height * 1000 + width));
  for (std::int64_t i = 0; i != height * width * channels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto value =
        static_cast<std::uint64_t>(i / channels) * 200 / static_cast<std::uint64_t>(height * width) + random.below(20);
    if (type == dtype::uint8) t.writable<std::uint8_t>()[at] = static_cast<std::uint8_t>(value);
    else if (type == dtype::uint16) t.writable<std::uint16_t>()[at] = static_cast<std::uint16_t>(value * 257);
    else t.writable<float>()[at] = static_cast<float>(value) / 255;
  }
  return t;
}

std::string spec_of(const result<tensor>& t) { return t.ok() ? t->spec_text() : t.why().to_string(); }

}  // namespace

TEST_CASE("PNG is lossless: any channels, 8 and 16 bits, odd sizes, a view of an image") {
  if (!is_available(image_format::png)) return;
  for (dtype type : {dtype::uint8, dtype::uint16})
    for (std::int64_t channels : {1, 2, 3, 4})
      for (auto [height, width] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {7, 13}, {64, 33}, {200, 190}}) {
        const tensor image = slope(height, width, channels, type);
        auto encoded = encode_png(image);
        REQUIRE(encoded.ok());
        auto again = decode_png(*encoded, {.type = type});
        REQUIRE(again.ok());
        CHECK(*again == image);
      }
  const tensor image = slope(20, 30, 3);
  const image_box box{.y = 3, .x = 5, .height = 11, .width = 13};
  auto part = decode_png(*encode_png(image_view(image).crop(box)));
  REQUIRE(part.ok());
  CHECK(*part == *crop(image, box));
  CHECK(encode_png(image, 0)->size() > encode_png(image, 9)->size());
  CHECK(encode_png(image, 10).why().code() == status_code::invalid_argument);
  CHECK(encode_png(slope(2, 2, 5)).why().code() == status_code::invalid_argument);
  CHECK(encode_png(slope(2, 2, 3, dtype::float32)).why().code() == status_code::invalid_argument);
}

TEST_CASE("a JPEG of high quality is close to the encoded pixels") {
  if (!is_available(image_format::jpeg)) return;
  for (std::int64_t channels : {1, 3})
    for (bool progressive : {false, true}) {
      tensor image = slope(45, 38, channels);
      auto bytes = encode_jpeg(image, {.quality = 98, .progressive = progressive, .downsample_chroma = false});
      REQUIRE(bytes.ok());
      auto again = decode_jpeg(*bytes, {.dct = jpeg_dct::accurate});
      REQUIRE(again.ok());
      REQUIRE(again->spec() == image.spec());
      double sum = 0;
      for (std::size_t i = 0; i != image.size(); ++i)
        sum += std::abs(int{image.values<std::uint8_t>()[i]} - int{again->values<std::uint8_t>()[i]});
      CHECK(sum / static_cast<double>(image.size()) < 3);
    }
  CHECK(encode_jpeg(slope(4, 4, 4)).why().message() ==
        "encode_jpeg: takes uint8 with 1 or 3 channels, not uint8[4,4,4]");
  CHECK(!encode_jpeg(slope(4, 4, 3), {.quality = 101}).ok());
  CHECK(!encode_jpeg(slope(1, 65536, 1)).ok());
}

TEST_CASE("a part of a JPEG has the pixels that the whole has there") {
  if (!is_available(image_format::jpeg)) return;
  const tensor image = slope(83, 97, 3);
  for (bool progressive : {false, true})
    for (int ratio : {1, 2}) {
      auto bytes = encode_jpeg(image, {.progressive = progressive});
      auto whole = decode_jpeg(*bytes, {.ratio = ratio});
      REQUIRE(whole.ok());
      const int height = static_cast<int>(whole->shape()[0]), width = static_cast<int>(whole->shape()[1]);
      test::random_numbers random(3);
      for (int i = 0; i != 60; ++i) {
        image_box box;
        box.height = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(height)));
        box.width = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(width)));
        box.y = static_cast<int>(random.below(static_cast<std::uint64_t>(height - box.height + 1)));
        box.x = static_cast<int>(random.below(static_cast<std::uint64_t>(width - box.width + 1)));
        auto part = decode_jpeg(*bytes, {.ratio = ratio, .crop = box});
        REQUIRE(part.ok());
        auto want = crop(*whole, box);
        INFO(box.y << " " << box.x << " " << box.height << " " << box.width);
        // Colours of a lower resolution are interpolated from what is decoded: the outermost columns may differ.
        std::size_t differ = 0;
        const auto a = part->values<std::uint8_t>(), b = want->values<std::uint8_t>();
        for (std::size_t k = 0; k != a.size(); ++k) differ += a[k] != b[k];
        CHECK(differ <= static_cast<std::size_t>(box.height) * 3 * 4);
      }
    }
}

TEST_CASE("a ratio is the largest that keeps the requested size") {
  CHECK(jpeg_ratio_for(375, 500, 224, 224) == 1);
  CHECK(jpeg_ratio_for(1000, 1500, 224, 224) == 4);
  CHECK(jpeg_ratio_for(2000, 3000, 224, 224) == 8);
  CHECK(jpeg_ratio_for(449, 449, 225, 225) == 2);
  CHECK(jpeg_ratio_for(100, 100, 0, 50) == 1);
  if (!is_available(image_format::jpeg)) return;
  auto bytes = encode_jpeg(slope(101, 203, 3));
  CHECK(spec_of(decode_jpeg(*bytes, {.height_min = 50, .width_min = 50})) == "uint8[51,102,3]");
}

TEST_CASE("a truncated JPEG is recovered on demand: its upper rows are decoded") {
  if (!is_available(image_format::jpeg)) return;
  auto bytes = encode_jpeg(slope(160, 64, 3));
  auto whole = decode_jpeg(*bytes);
  const std::string_view half = std::string_view(*bytes).substr(0, bytes->size() * 6 / 10);
  CHECK(decode_jpeg(half).why().code() == status_code::data_loss);
  auto recovered = decode_jpeg(half, {.try_recover_truncated = true});
  REQUIRE(recovered.ok());
  REQUIRE(recovered->spec() == whole->spec());
  CHECK(recovered->slice(0, 48) == whole->slice(0, 48));
  CHECK(!(recovered->slice(100, 60) == whole->slice(100, 60)));
}

TEST_CASE(
    "a crop of a JPEG that is cut anywhere is recovered, or an error, and nothing beside it is "
    "written") {
  if (!is_available(image_format::jpeg)) return;
  auto bytes = encode_jpeg(slope(90, 70, 3));
  const tensor whole = *decode_jpeg(*bytes);
  const std::size_t head = bytes->find("\xff\xda");  // the scan's header, and some of the scan
  std::size_t recovered = 0;
  for (std::size_t size = 3; size < bytes->size(); size += size < head + 40 ? 1 : 37) {
    for (int y : {0, 1, 48, 80}) {
      jpeg_options o{.crop = {.y = y, .x = 6, .height = 10, .width = 15}, .try_recover_truncated = true};
      auto part = decode_jpeg(bytes->substr(0, size), o);
      CAPTURE(size, y, part.why());
      recovered += part.ok();
      if (part.ok()) CHECK(spec_of(part) == "uint8[10,15,3]");
      else CHECK(part.why().code() == status_code::data_loss);
      o.try_recover_truncated = false;
      auto rows_above = decode_jpeg(bytes->substr(0, size), o);  // without what stands below, where nobody looks
      if (rows_above.ok()) CHECK(*rows_above == *decode_jpeg(*bytes, o));
      else CHECK(rows_above.why().code() == status_code::data_loss);
    }
  }
  CHECK(recovered > 100);
}

TEST_CASE("transforms of invalid images or sizes are refused") {
  const tensor image = slope(8, 9, 3);
  CHECK_THROWS_AS(resize(tensor::zeros(dtype::float64, {4, 4, 3}), {.height = 2, .width = 2}), error);
  CHECK_THROWS_AS(resize(tensor::zeros(dtype::uint8, {4, 4}), {.height = 2, .width = 2}), error);
  auto said = [](const auto& r) { return std::string(r.why().message()); };
  CHECK(said(resize(image, {.height = 0, .width = 3})) == "resize: a size of 0 x 3");
  CHECK(said(resize(tensor::zeros(dtype::uint8, {0, 4, 3}), {.height = 2, .width = 2})) ==
        "resize: an image without pixels: uint8[0,4,3]");
  CHECK(resize(image, {.height = 1 << 20, .width = 1 << 20}).why().code() == status_code::resource_exhausted);
  CHECK(said(crop(image, {.y = 1, .x = 0, .height = 8, .width = 1})) ==
        "crop: the box of 8 x 1 at row 1, column 0 is not inside of 8 x 9 pixels");
  CHECK(!crop(image, {.y = 0, .x = 0, .height = 0, .width = 1}).ok());
  CHECK(!crop(image, {.y = std::numeric_limits<int>::max(), .x = 0, .height = 2, .width = 1}).ok());
  CHECK(!central_crop(image, 0).ok());
  CHECK(!central_crop(image, 1.5).ok());
  CHECK(!adjust_hue(image, 2).ok());
  CHECK(!adjust_hue(slope(4, 4, 1), 0.1f).ok());
  CHECK(!adjust_saturation(image, -1).ok());
  CHECK(!adjust_contrast(image, std::nanf("")).ok());
  const float one[] = {1}, zeros[] = {0, 0, 0}, ones[] = {1, 1, 1};
  CHECK(!normalize(image, one, one).ok());
  CHECK(said(normalize(image, ones, zeros)) == "normalize: a deviation of 0");
}

TEST_CASE("resize to the same size is the image; to one pixel by area, its mean") {
  for (std::int64_t channels : {1, 2, 3, 4})
    for (dtype type : {dtype::uint8, dtype::uint16}) {
      const tensor image = slope(13, 17, channels, type);
      for (auto m : {resize_method::nearest, resize_method::bilinear, resize_method::area, resize_method::bicubic})
        for (bool antialias : {false, true}) {
          auto same = resize(image, {.height = 13, .width = 17, .method = m, .antialias = antialias, .rounded = true});
          REQUIRE(same.ok());
          CHECK(*same == image);
        }
    }
  const tensor image = slope(16, 24, 1);
  double sum = 0;
  for (auto v : image.values<std::uint8_t>()) sum += v;
  auto mean = resize(image, {.height = 1, .width = 1, .method = resize_method::area});
  REQUIRE(spec_of(mean) == "float32[1,1,1]");
  CHECK(std::abs(static_cast<double>(mean->values<float>()[0]) - sum / (16 * 24)) < 1e-3);
}

TEST_CASE("a resize to bytes is at most 1 beside the rounded floats") {
  for (std::int64_t channels : {1, 2, 3, 4})
    for (auto [height, width] : {std::pair<int, int>{7, 9}, {40, 31}, {64, 100}, {1, 50}})
      for (auto m : {resize_method::bilinear, resize_method::area, resize_method::bicubic})
        for (bool antialias : {false, true}) {
          const tensor image = slope(33, 47, channels);
          resize_options o{.height = height, .width = width, .method = m, .antialias = antialias};
          const tensor floats = resize(image, o).value();
          o.rounded = true;
          const tensor bytes = resize(image, o).value();
          double most = 0;
          for (std::size_t i = 0; i != floats.size(); ++i) {
            const double want =
                std::min(255.0, std::max(0.0, std::round(static_cast<double>(floats.values<float>()[i]))));
            most = std::max(most, std::abs(want - bytes.values<std::uint8_t>()[i]));
          }
          INFO(channels << " " << height << "x" << width << " " << to_string(m));
          CHECK(most <= (m == resize_method::bilinear ? 1 : 0));
        }
}

TEST_CASE("resize of a part reads nothing outside of it") {
  const tensor image = slope(40, 50, 3);
  const image_box box{.y = 39, .x = 45, .height = 1, .width = 5};
  for (auto m : {resize_method::nearest, resize_method::bilinear, resize_method::area, resize_method::bicubic}) {
    const resize_options o{.height = 7, .width = 3, .method = m};
    CHECK(*resize(image_view(image).crop(box), o) == *resize(*crop(image, box), o));
  }
}

TEST_CASE("normalize is (x - mean) / deviation of each channel") {
  const tensor image = slope(5, 6, 3);
  const float mean[] = {10, 20, 30}, deviation[] = {1, 2, 4};
  auto n = normalize(image, mean, deviation);
  REQUIRE(spec_of(n) == "float32[5,6,3]");
  for (std::size_t i = 0; i != image.size(); ++i)
    CHECK(n->values<float>()[i] ==
          (static_cast<float>(image.values<std::uint8_t>()[i]) - mean[i % 3]) / deviation[i % 3]);
}

TEST_CASE("a flip twice is the image") {
  for (std::int64_t channels : {1, 2, 3, 4})
    for (dtype type : {dtype::uint8, dtype::uint16, dtype::float32}) {
      const tensor image = slope(6, 11, channels, type);
      CHECK(*flip_left_right(*flip_left_right(image)) == image);
      CHECK(*flip_up_down(*flip_up_down(image)) == image);
      CHECK(!(*flip_left_right(image) == image));
    }
}

TEST_CASE("random functions draw the same for the same seed, a documented number of words, within bounds") {
  const tensor image = slope(30, 44, 3);
  for (std::uint64_t seed = 0; seed != 200; ++seed) {
    random_source a(derive(7, seed)), b(derive(7, seed)), counted(derive(7, seed));
    auto box = random_crop_box({.height = 30, .width = 44, .channels = 3}, 20, 20, a);
    REQUIRE(box.ok());
    CHECK((box->y >= 0 && box->y <= 10 && box->x >= 0 && box->x <= 24));
    CHECK(*random_crop(image, 20, 20, b) == *crop(image, *box));
    counted(), counted();
    CHECK(a() == counted());

    random_source c(derive(8, seed)), d(derive(8, seed)), counted40(derive(8, seed));
    auto resized = random_resized_crop_box({.height = 30, .width = 44, .channels = 3}, {}, c);
    REQUIRE(resized.ok());
    CHECK((resized->height >= 1 && resized->width >= 1 && resized->y + resized->height <= 30 &&
           resized->x + resized->width <= 44));
    for (int i = 0; i != 40; ++i) counted40();
    CHECK(c() == counted40());
    const resize_options size{.height = 8, .width = 8};
    CHECK(*random_resized_crop(image, {.size = size}, d) == *resize(image_view(image).crop(*resized), size));
  }
  random_source random(1);
  CHECK(!random_crop(image, 31, 1, random).ok());
  CHECK(!random_resized_crop(image, {.size = {.height = 2, .width = 2}, .box = {.area_min = 0}}, random).ok());
}

TEST_CASE("random flips occur about half of the time, and colors stay within the requested range") {
  const tensor image = slope(4, 6, 3), left = *flip_left_right(image), up = *flip_up_down(image);
  int flipped = 0, upside_down = 0;
  for (std::uint64_t i = 0; i != 400; ++i) {
    random_source a(derive(1, i)), b(derive(2, i)), c(derive(3, i));
    auto one = random_flip_left_right(image, a), two = random_flip_up_down(image, b);
    CHECK((*one == image || *one == left));
    CHECK((*two == image || *two == up));
    flipped += *one == left;
    upside_down += *two == up;
    const colour_jitter_options o{.brightness = 0.2f,
                                  .contrast_min = 0.5f,
                                  .contrast_max = 1.5f,
                                  .saturation_min = 0.9f,
                                  .saturation_max = 1.1f,
                                  .hue = 0.1f};
    auto drawn = random_colours(o, c);
    REQUIRE(drawn.ok());
    CHECK((std::abs(drawn->brightness) <= 0.2f && drawn->contrast >= 0.5f && drawn->contrast <= 1.5f &&
           drawn->saturation >= 0.9f && drawn->saturation <= 1.1f && std::abs(drawn->hue) <= 0.1f));
  }
  CHECK((flipped > 140 && flipped < 260 && upside_down > 140 && upside_down < 260));
  random_source random(1);
  CHECK(!colour_jitter(image, {.contrast_min = 2, .contrast_max = 1}, random).ok());
  CHECK(!colour_jitter(image, {.hue = 0.6f}, random).ok());
  random_source x(5), y(5);
  CHECK(*colour_jitter(image, {.brightness = 0.3f, .hue = 0.2f}, x) ==
        *colour_jitter(image, {.brightness = 0.3f, .hue = 0.2f}, y));
}

}  // namespace sluice::lib::transforms_test

#endif
