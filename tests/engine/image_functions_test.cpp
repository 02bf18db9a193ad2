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
#include "support/bytes/golden_cases.hpp"
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
           {"decode_jpeg(encode_jpeg(image), channels=1, ratio=2)", "uint8[12,12,1]"},
           {"decode_and_crop_jpeg(encode_jpeg(image), 1, 2, 5, 6, channels=1)", "uint8[5,6,1]"},
           {"decode_png(encode_png(image, compression=0), dtype=\"uint16\")", "uint16[24,24,3]"},
           {"decode_image(encode_png(image), channels=4)", "uint8[24,24,4]"},
           {"decode_image(encode_jpeg(image), frames=\"all\", dct_method=\"accurate\")", "uint8[24,24,3]"},
           {"resize(image, 5, 6, preserve_aspect_ratio=true)", "float32[5,5,3]"},
           {"resize_rounded(image, 5, 6, antialias=true)", "uint8[5,6,3]"},
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
  CHECK(error_of("resize(image, \"a\", 5)").find("resize: expects int64, and \"a\" is string") != std::string::npos);
}
namespace {

/// A JPEG of tests/golden/images with the name of its case.
std::string golden_jpeg(const std::string& name) {
  const test::golden_cases golden;
  for (auto* c : golden.of("decode_jpeg"))
    if (c->at("name") == name) return std::string(golden.blob(c->at("encoded")));
  throw std::runtime_error("no case " + name);
}
std::string jpeg_numbered(std::int64_t number) {
  if (number == 0) return golden_jpeg("exif 6");
  const std::string whole = golden_jpeg("rgb 420 31x24");
  return number == 1 ? whole : whole.substr(0, whole.size() * 9 / 10);
}
SLUICE_FUNCTION(jpeg_text, &jpeg_numbered);

/// The result of the expression for jpeg_numbered(number).
tensor of_jpeg(std::int64_t number, const std::string& expression) {
  return tensors("range(" + std::to_string(number) + ", 3) | take(1) | map({bytes: jpeg_text(it)}) | map(" +
                 expression + ")")
      .at(0);
}
std::string error_of_jpeg(std::int64_t number, const std::string& expression) {
  try {
    of_jpeg(number, expression);
  } catch (const lib::error& e) { return e.why().to_string(); }
  return "none";
}

}  // namespace

TEST_CASE("a plan orients JPEGs, and decodes them with the exact transform, by name") {
  if (!is_available(image_format::jpeg)) return;
  const std::string turned = jpeg_numbered(0), whole = jpeg_numbered(1);
  for (const std::string function : {"decode_jpeg", "decode_image"}) {
    CHECK(of_jpeg(0, function + "(bytes)") == decode_jpeg(turned).value());
    CHECK(of_jpeg(0, function + "(bytes, apply_orientation=true)") ==
          decode_jpeg(turned, {.apply_orientation = true}).value());
    const tensor exact = decode_jpeg(whole, {.dct = jpeg_dct::accurate}).value();
    CHECK(of_jpeg(1, function + "(bytes, dct_method=\"INTEGER_ACCURATE\")") == exact);
    CHECK(of_jpeg(1, function + "(bytes, dct_method=\"accurate\")") == exact);
    const tensor fast = of_jpeg(1, function + "(bytes, dct_method=\"INTEGER_FAST\")");
    CHECK(fast == decode_jpeg(whole).value());
    CHECK(fast != exact);
    CHECK(error_of_jpeg(1, function + "(bytes, dct_method=\"exact\")").find("dct_method is \"INTEGER_FAST\"") !=
          std::string::npos);
  }
  CHECK(of_jpeg(0, "decode_jpeg(bytes)").spec_text() !=
        of_jpeg(0, "decode_jpeg(bytes, apply_orientation=true)").spec_text());
  CHECK(of_jpeg(1, "decode_jpeg(bytes, fancy_upscaling=false)") ==
        decode_jpeg(whole, {.fancy_upscaling = false}).value());
}

TEST_CASE("a plan recovers truncated JPEGs by name") {
  if (!is_available(image_format::jpeg)) return;
  const std::string cut = jpeg_numbered(2);
  for (const std::string function : {"decode_jpeg", "decode_image"}) {
    CHECK(error_of_jpeg(2, function + "(bytes)").find("premature end") != std::string::npos);
    CHECK(of_jpeg(2, function + "(bytes, try_recover_truncated=true)") ==
          decode_jpeg(cut, {.try_recover_truncated = true}).value());
    CHECK(of_jpeg(2, function + "(bytes, acceptable_fraction=0.25)") ==
          decode_jpeg(cut, {.acceptable_fraction = 0.25}).value());
    CHECK(error_of_jpeg(2, function + "(bytes, acceptable_fraction=0.99)").find("premature end") != std::string::npos);
    CHECK(error_of_jpeg(2, function + "(bytes, acceptable_fraction=1.5)").find("acceptable_fraction must be 0 to 1") !=
          std::string::npos);
  }
}
}  // namespace sluice::lib::image_functions_test

#endif
