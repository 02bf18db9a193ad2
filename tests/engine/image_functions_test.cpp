// SPDX-License-Identifier: Apache-2.0
// The functions of images in plan text: each of them, against the C++ function, and what bad arguments answer.
#if SLUICE_HAVE_IMAGES
#include "sluice/engine/detail/image_functions.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

#include "sluice/format/image_codecs.hpp"
#include "sluice/format/image_transforms.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/plan_texts.hpp"

namespace sluice::lib::image_functions_test {

namespace {

/// A BMP of 24 x 24, which is read without any library.
std::string bmp_of(std::int64_t number) {
  constexpr int kSide = 24;
  const auto put = [](std::string& s, std::uint32_t n) { s.append(reinterpret_cast<const char*>(&n), 4); };
  std::string s = "BM";
  for (std::uint32_t n : {54u + kSide * kSide * 3u, 0u, 54u, 40u, std::uint32_t{kSide}, std::uint32_t{kSide},
                          1u | 24u << 16, 0u, 0u, 0u, 0u, 0u, 0u})
    put(s, n);
  for (std::int64_t i = 0; i != kSide * kSide * 3; ++i) s += static_cast<char>(i * 7 + number * 31);
  return s;
}
SLUICE_FUNCTION(bmp_text, &bmp_of);

task<std::vector<tensor>> all_of(stream<tensor> s) {
  std::vector<tensor> out;
  while (auto t = co_await s.next()) out.push_back(std::move(*t));
  co_return out;
}
std::vector<tensor> tensors(const std::string& plan) {
  lib::register_image_functions();
  runtime rt({.workers = 2});
  return sync_wait(rt, all_of(dataset<tensor>(parse_plan(plan)).iterate(rt)));
}
/// Of the expression, with `image` for the first image.
tensor made_by(const std::string& expression) {
  return tensors("range(1) | map({image: decode_bmp(bmp_text(it))}) | map(" + expression + ", seed=5)").at(0);
}
std::string error_of(const std::string& expression) {
  try {
    made_by(expression);
  } catch (const lib::error& e) { return e.why().to_string(); }
  return "none";
}

}  // namespace

TEST_CASE("images are decoded and resized by the text of a plan as by C++") {
  std::vector<tensor> made = tensors("range(20) | map(resize(decode_image(bmp_text(it)), 12, 10), parallelism=4)");
  REQUIRE(made.size() == 20);
  for (std::size_t i = 0; i != made.size(); ++i) {
    tensor image = decode_image(bmp_of(static_cast<std::int64_t>(i))).value();
    CHECK(made[i] == lib::resize(image, {.height = 12, .width = 10}).value());
  }
}

TEST_CASE("random results in a plan's text are the same with any parallelism, and differ with another seed") {
  const std::string plan =
      "range(30) | map(random_flip_left_right(random_crop(decode_bmp(bmp_text(it)), 8, 9)), seed=3";
  std::vector<tensor> once = tensors(plan + ")");
  CHECK(once == tensors(plan + ", parallelism=5)"));
  std::vector<tensor> other =
      tensors("range(30) | map(random_flip_left_right(random_crop(decode_bmp(bmp_text(it)), 8, 9)), seed=4)");
  CHECK(once != other);
  CHECK(once[0].spec_text() == "uint8[8,9,3]");
}

TEST_CASE("each function of images has its name in plans") {
  for (auto& [text, spec] : std::vector<std::pair<std::string, std::string>>{
           {"image", "uint8[24,24,3]"},
           {"decode_png(encode_png(image))", "uint8[24,24,3]"},
           {"decode_png(encode_png(image), 1)", "uint8[24,24,1]"},
           {"decode_png(encode_png(image), 3, \"uint16\")", "uint16[24,24,3]"},
           {"decode_jpeg(encode_jpeg(image))", "uint8[24,24,3]"},
           {"decode_jpeg(encode_jpeg(image, 50), 1)", "uint8[24,24,1]"},
           {"decode_jpeg(encode_jpeg(image), 3, 12, 12)", "uint8[12,12,3]"},
           {"decode_and_crop_jpeg(encode_jpeg(image), 1, 2, 5, 6)", "uint8[5,6,3]"},
           {"decode_image(encode_jpeg(image))", "uint8[24,24,3]"},
           {"resize(image, 5, 6)", "float32[5,6,3]"},
           {"resize(image, 5, 6, \"area\")", "float32[5,6,3]"},
           {"resize(image, 5, 6, \"bicubic\", true)", "float32[5,6,3]"},
           {"resize_rounded(image, 5, 6, \"bilinear\", false)", "uint8[5,6,3]"},
           {"crop(image, 1, 2, 3, 4)", "uint8[3,4,3]"},
           {"central_crop(image, 0.5)", "uint8[12,12,3]"},
           {"flip_left_right(flip_up_down(image))", "uint8[24,24,3]"},
           {"adjust_hue(adjust_saturation(adjust_contrast(adjust_brightness(image, 0.1), 1.5), 0.5), 0.1)",
            "uint8[24,24,3]"},
           {"normalize(image, [127.5, 127.5, 127.5], [127.5, 127.5, 127.5])", "float32[24,24,3]"},
           {"random_crop(image, 3, 4)", "uint8[3,4,3]"},
           {"random_resized_crop(image, 7, 8)", "float32[7,8,3]"},
           {"random_flip_up_down(random_flip_left_right(image))", "uint8[24,24,3]"},
           {"colour_jitter(image, 0.2, 0.3, 0.3, 0.1)", "uint8[24,24,3]"},
           {"cast(image, \"float32\") / 255", "float32[24,24,3]"},
       }) {
    INFO(text);
    CHECK(made_by(text).spec_text() == spec);
  }
  tensor image = decode_bmp(bmp_of(0)).value();
  CHECK(made_by("decode_png(encode_png(image))") == image);
  CHECK(made_by("flip_left_right(flip_left_right(image))") == image);
}

TEST_CASE("bad arguments and bad images are errors of the element") {
  CHECK(error_of("resize(image, 0, 5)") != "none");
  CHECK(error_of("resize(image, 3, 5, \"best\")")
            .find("resize is nearest, bilinear, area or bicubic, and not \"best\"") != std::string::npos);
  CHECK(error_of("resize(image, 99999999999, 5)").find("99999999999 is too large for a number of pixels") !=
        std::string::npos);
  CHECK(error_of("crop(image, 20, 20, 10, 10)") != "none");
  CHECK(error_of("decode_jpeg(\"no image\")") != "none");
  CHECK(error_of("decode_image(\"\")") != "none");
  CHECK(error_of("decode_gif(\"GIF89a\", \"some\")").find("frames are \"first\" or \"all\"") != std::string::npos);
  CHECK(error_of("random_crop(image, 30, 30)") != "none");
  CHECK(error_of("normalize(image, [1.0], [1.0])") != "none");
  CHECK(error_of("decode_jpeg(read_file(\"/nowhere/x.jpg\"))").find("/nowhere/x.jpg") != std::string::npos);
  CHECK(error_of("resize(image, \"a\", 5)").find("resize takes (tensor, int64, int64)") != std::string::npos);
}
}  // namespace sluice::lib::image_functions_test

#endif
