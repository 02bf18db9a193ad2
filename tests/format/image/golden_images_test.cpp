// SPDX-License-Identifier: Apache-2.0
// Images of every kind, decoded as TensorFlow decodes them, and its transforms (tests/golden/README.md).
#if SLUICE_HAVE_IMAGES
#include <zlib.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <set>

#include "sluice/format/image_codecs.hpp"
#include "sluice/format/image_transforms.hpp"
#include "support/bytes/golden_cases.hpp"

namespace sluice::lib::golden_images_test {
using namespace sluice::lib::test;
using nlohmann::json;

namespace {

std::uint32_t crc_of(const tensor& t) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(t.data()), static_cast<uInt>(t.size_bytes())));
}

image_box box_of(const json& numbers) {
  return {.y = numbers.at(0), .x = numbers.at(1), .height = numbers.at(2), .width = numbers.at(3)};
}

result<tensor> decoded(const json& c, std::string_view encoded) {
  const std::string call = c.at("call");
  const int channels = c.value("channels", 0);
  if (call == "decode_jpeg") {
    jpeg_options o{.channels = channels, .ratio = c.value("ratio", 1)};
    if (c.contains("crop")) o.crop = box_of(c["crop"]);
    if (c.value("accurate", false)) o.dct = jpeg_dct::accurate;
    o.fancy_upscaling = c.value("fancy", true);
    o.try_recover_truncated = c.value("recover", false);
    o.apply_orientation = c.value("oriented", false);
    return decode_jpeg(encoded, o);
  }
  if (call == "decode_png")
    return decode_png(
        encoded, {.channels = channels, .type = c.value("type", "uint8") == "uint16" ? dtype::uint16 : dtype::uint8});
  if (call == "decode_bmp") return decode_bmp(encoded, {.channels = channels});
  if (call == "decode_gif") return decode_gif(encoded, {.frames = frame_choice::all});
  const frame_choice frames = c.value("all", false) ? frame_choice::all : frame_choice::first;
  if (call == "decode_webp") return decode_webp(encoded, {.channels = channels, .frames = frames});
  return decode_image(encoded, {.channels = channels, .frames = frames});
}

/// The largest difference of two images of bytes.
int farthest(const tensor& got, std::string_view want) {
  int most = 0;
  for (std::size_t i = 0; i != want.size(); ++i)
    most = std::max(most,
                    std::abs(int{static_cast<std::uint8_t>(got.data()[i])} - int{static_cast<std::uint8_t>(want[i])}));
  return most;
}

/// As make_images.py makes them.
tensor synthetic(const json& source) {
  const std::int64_t height = source.at(0), width = source.at(1), channels = source.at(2);
  const std::string type = source.at(3);
  tensor t = tensor::make(*dtype_named(type), {height, width, channels});
  for (std::size_t i = 0; i != t.size(); ++i) {
    std::uint64_t n = i + source.at(4).get<std::uint64_t>() * 1000003;
    n = (n ^ n >> 7) * 0x9e3779b97f4a7c15u;
    n = (n ^ n >> 29) * 0xbf58476d1ce4e5b9u;
    const auto top = static_cast<std::uint32_t>(n >> 40);
    if (type == "uint8") t.writable<std::uint8_t>()[i] = static_cast<std::uint8_t>(top >> 16);
    else if (type == "uint16") t.writable<std::uint16_t>()[i] = static_cast<std::uint16_t>(top >> 8);
    else t.writable<float>()[i] = static_cast<float>(top) / static_cast<float>(1 << 24);
  }
  return t;
}

double value_at(const char* p, dtype d, std::size_t i) {
  std::uint16_t wide;
  float number;
  switch (d) {
    case dtype::uint8: return static_cast<std::uint8_t>(p[i]);
    case dtype::uint16: std::memcpy(&wide, p + 2 * i, 2); return wide;
    default: std::memcpy(&number, p + 4 * i, 4); return static_cast<double>(number);
  }
}

/// The largest difference from the values that were stored of a case's answer. Expects its shape and type.
double farthest(const golden_cases& golden, const json& c, const tensor& got) {
  const dtype type = *dtype_named(c.at("type").get<std::string>());
  REQUIRE(got.spec() == tensor_spec{type, c.at("shape").get<std::vector<std::int64_t>>()});
  const std::string want = golden.inflated(c.at("values"));
  const std::size_t step = c.at("step"), count = want.size() / size_bytes(type);
  REQUIRE(count == (got.size() + step - 1) / step);
  double most = 0;
  for (std::size_t i = 0; i != count; ++i)
    most = std::max(most, std::abs(value_at(got.data(), type, i * step) - value_at(want.data(), type, i)));
  return most;
}

resize_method method_of(const json& c) {
  for (auto m : {resize_method::nearest, resize_method::bilinear, resize_method::area, resize_method::bicubic})
    if (to_string(m) == c.at("method").get<std::string>()) return m;
  throw std::runtime_error("no such method");
}

/// Where TensorFlow's answer is not ours: tests/golden/README.md, which says why.
bool differs_on_purpose(const std::string& call, const std::string& name) {
  static const std::set<std::string> kGifs = {"a first frame that is smaller", "a frame that reaches out",
                                              "without its end"};
  return (call == "decode_jpeg" && name.ends_with("recovered")) || (call == "decode_gif" && kGifs.contains(name));
}

void check_decoder(std::string_view call, std::size_t at_least) {
  const golden_cases golden;
  const auto cases = golden.of(call);
  CHECK(cases.size() >= at_least);
  std::set<const json*> corrected;
  for (auto* c : cases) {
    const std::string name = c->at("name");
    INFO(call << ": " << name);
    auto got = decoded(*c, golden.blob(c->at("encoded")));
    if (differs_on_purpose(std::string(call), name)) continue;
    const json* right = golden.correction_of(*c);
    const json& want = right ? *right : *c;
    if (right) corrected.insert(right);
    if (want.contains("error")) {
      INFO(want.at("error"));
      CHECK(!got.ok());
      continue;
    }
    INFO(want.value("why", "as TensorFlow") << " " << got.why().to_string());
    CHECK(got.ok());
    if (!got.ok()) continue;
    const auto shape = want.at("shape").get<std::vector<std::int64_t>>();
    CHECK(got->spec() == tensor_spec{got->dtype(), shape});
    if (got->spec() != tensor_spec{got->dtype(), shape}) continue;
    if (!want.contains("pixels")) CHECK(crc_of(*got) == want.at("crc").get<std::uint32_t>());
    else CHECK(farthest(*got, golden.pixels_of(want)) <= 1);
    // TensorFlow's answer is another one, or the correction would be superfluous.
    if (right && c->contains("pixels")) CHECK(farthest(*got, golden.pixels_of(*c)) > 1);
    if (right && !c->contains("pixels"))
      CHECK((!c->contains("crc") || crc_of(*got) != c->at("crc").get<std::uint32_t>()));
  }
  for (const json& c : golden.corrections())
    if (c.at("call") == call) CHECK(corrected.contains(&c));
}

}  // namespace

TEST_CASE("JPEGs of every kind are decoded as TensorFlow does, within 1, and parts of them correctly") {
  if (is_available(image_format::jpeg)) check_decoder("decode_jpeg", 200);
}
TEST_CASE("PNGs of every kind are decoded as TensorFlow does, to the bit") {
  if (is_available(image_format::png)) check_decoder("decode_png", 300);
}
TEST_CASE("BMPs are decoded as TensorFlow does, or corrected, to the bit") { check_decoder("decode_bmp", 40); }
TEST_CASE("GIFs are decoded as TensorFlow does, or corrected, to the bit") {
  if (is_available(image_format::gif)) check_decoder("decode_gif", 30);
}
TEST_CASE("WebPs are decoded as TensorFlow does, to the bit") {
  if (is_available(image_format::webp)) check_decoder("decode_webp", 40);
}
TEST_CASE("decode_image takes any of them") {
  for (auto f : {image_format::jpeg, image_format::png, image_format::gif, image_format::webp})
    if (!is_available(f)) return;
  check_decoder("decode_image", 30);
}

TEST_CASE("resize is TensorFlow's: nearest to the bit, bilinear and bicubic within 0.002 of 255, area within 0.01") {
  const golden_cases golden;
  for (auto* c : golden.of("resize")) {
    INFO(c->at("name"));
    const tensor source = synthetic(c->at("source"));
    const resize_options o{.height = c->at("size").at(0),
                           .width = c->at("size").at(1),
                           .method = method_of(*c),
                           .antialias = c->at("antialias"),
                           .preserve_aspect_ratio = c->value("preserve", false)};
    auto got = resize(source, o);
    REQUIRE(got.ok());
    const double scale = source.dtype() == dtype::uint8 ? 1 : source.dtype() == dtype::uint16 ? 257 : 1.0 / 255;
    const double off = farthest(golden, *c, *got) / scale;
    CHECK(off <= (o.method == resize_method::nearest ? 0 : o.method == resize_method::area ? 0.01 : 0.002));
  }
}

TEST_CASE("flips and crops are TensorFlow's, to the bit") {
  const golden_cases golden;
  std::size_t cases = 0;
  for (const json& c : golden.all()) {
    const std::string call = c.at("call");
    if (!call.starts_with("flip") && !call.ends_with("crop")) continue;
    INFO(c.at("name"));
    const tensor source = synthetic(c.at("source"));
    auto got = call == "flip_left_right" ? flip_left_right(source)
               : call == "flip_up_down"  ? flip_up_down(source)
               : call == "central_crop"  ? central_crop(source, c.at("fraction"))
                                         : crop(source, box_of(c.at("box")));
    REQUIRE(got.ok());
    CHECK(farthest(golden, c, *got) == 0);
    ++cases;
  }
  CHECK(cases >= 50);
}

TEST_CASE("colours are TensorFlow's, within 1 of 255 and 1e-5 of floats") {
  const golden_cases golden;
  std::size_t cases = 0;
  for (const json& c : golden.all()) {
    const std::string call = c.at("call");
    if (!call.starts_with("adjust_")) continue;
    INFO(c.at("name"));
    const tensor source = synthetic(c.at("source"));
    const float amount = c.at("amount");
    auto got = call == "adjust_brightness"   ? adjust_brightness(source, amount)
               : call == "adjust_contrast"   ? adjust_contrast(source, amount)
               : call == "adjust_saturation" ? adjust_saturation(source, amount)
                                             : adjust_hue(source, amount);
    REQUIRE(got.ok());
    CHECK(farthest(golden, c, *got) <= (source.dtype() == dtype::float32 ? 1e-5 : 1));
    ++cases;
  }
  CHECK(cases >= 25);
}

}  // namespace sluice::lib::golden_images_test

#endif
