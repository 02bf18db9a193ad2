// SPDX-License-Identifier: Apache-2.0
// Files that are cut short, damaged, or claim to be huge: an error that says so, before memory is taken.
#if SLUICE_HAVE_IMAGES
#include <zlib.h>
#include <catch2/catch.hpp>

#include <cstring>
#include <map>

#include "sluice/format/image_codecs.hpp"
#include "support/bytes/golden_cases.hpp"
#include "support/random/random_numbers.hpp"

namespace sluice::lib::damaged_images_test {
using namespace sluice::lib::test;

namespace {

std::string big32(std::uint32_t n) {
  const std::uint32_t swapped = __builtin_bswap32(n);
  return {reinterpret_cast<const char*>(&swapped), 4};
}
std::string little(std::uint64_t n, std::size_t bytes) { return {reinterpret_cast<const char*>(&n), bytes}; }

/// A file of a format, from the golden ones: the largest that is sound.
std::string sample_of(const golden_cases& golden, std::string_view call) {
  std::string_view most;
  for (auto* c : golden.of(call))
    if (auto bytes = golden.blob(c->at("encoded"));
        c->contains("shape") && !c->contains("recover") && bytes.size() > most.size())
      most = bytes;
  return std::string(most);
}

std::string png_chunk(std::string_view name, std::string_view data) {
  const std::string body = std::string(name) + std::string(data);
  return big32(static_cast<std::uint32_t>(data.size())) + body +
         big32(static_cast<std::uint32_t>(
             ::crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()))));
}
std::string png_claiming(std::uint32_t height, std::uint32_t width, std::string_view depth_colours = "\x08\x02") {
  const std::string head = big32(width) + big32(height) + std::string(depth_colours) + std::string(3, '\0');
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", head) + png_chunk("IDAT", "\x78\x9c\x63") + png_chunk("IEND", "");
}
std::string bmp_claiming(std::int32_t height, std::int32_t width, int bits = 24, int compression = 0, int header = 40) {
  return "BM" + little(0, 8) + little(54, 4) + little(static_cast<std::uint64_t>(header), 4) +
         little(static_cast<std::uint32_t>(width), 4) + little(static_cast<std::uint32_t>(height), 4) + little(1, 2) +
         little(static_cast<std::uint64_t>(bits), 2) + little(static_cast<std::uint64_t>(compression), 4) +
         std::string(40, '\0');
}
std::string gif_claiming(std::uint16_t height, std::uint16_t width) {
  std::string one = std::string("GIF89a") + little(width, 2) + little(height, 2) + std::string("\x80\0\0", 3) +
                    std::string(6, '\x7f');
  one += "," + little(0, 4) + little(width, 2) + little(height, 2) + std::string(1, '\0');
  return one + std::string("\x02\x02\x44\x01\0;", 6);
}
/// A sound JPEG whose header says another size.
std::string jpeg_claiming(std::string whole, std::uint16_t height, std::uint16_t width) {
  std::size_t at = whole.find("\xff\xc0");
  if (at == std::string::npos) at = whole.find("\xff\xc2");
  REQUIRE(at != std::string::npos);
  whole[at + 5] = static_cast<char>(height >> 8), whole[at + 6] = static_cast<char>(height);
  whole[at + 7] = static_cast<char>(width >> 8), whole[at + 8] = static_cast<char>(width);
  return whole;
}

/// What a decoder answers, and how much room it asked for.
struct answer {
  status why;
  std::size_t room_bytes = 0;
};
answer ask(std::string_view encoded, const image_limits& limits = {}) {
  answer a;
  std::vector<std::uint8_t> room;
  auto sink = [&](const image_spec& s) {
    a.room_bytes = s.bytes();
    room.resize(s.bytes());
    return room.data();
  };
  a.why = decode_image(encoded, {.frames = frame_choice::all, .limits = limits}, sink).why();
  return a;
}

constexpr std::string_view kDecoders[] = {"decode_jpeg", "decode_png", "decode_bmp", "decode_gif", "decode_webp"};
bool is_available(std::string_view call) {
  const image_format formats[] = {image_format::jpeg, image_format::png, image_format::bmp, image_format::gif,
                                  image_format::webp};
  for (std::size_t i = 0; i != std::size(kDecoders); ++i)
    if (call == kDecoders[i]) return sluice::lib::is_available(formats[i]);
  return false;
}

}  // namespace

TEST_CASE("every cut of an image is an error, or leaves a whole image") {
  const golden_cases golden;
  for (std::string_view call : kDecoders) {
    if (!is_available(call)) continue;
    INFO(call);
    const std::string whole = sample_of(golden, call);
    REQUIRE(ask(whole).why.ok());
    std::size_t refused = 0, tried = 0;
    for (std::size_t n = 0; n < whole.size(); n += whole.size() / 400 + 1) {
      const std::string cut(whole.data(), n);  // its own allocation, so that ASan sees a read beyond it
      const status why = ask(cut).why;
      CHECK((why.ok() || why.code() == status_code::data_loss || why.code() == status_code::invalid_argument));
      if (n >= 64) CHECK(why.code() == status_code::data_loss);
      refused += !why.ok();
      ++tried;
    }
    CHECK(refused == tried);
  }
}

TEST_CASE("a byte changed anywhere is an error or another image") {
  const golden_cases golden;
  random_numbers random(7);
  for (std::string_view call : kDecoders) {
    if (!is_available(call)) continue;
    INFO(call);
    const std::string whole = sample_of(golden, call);
    std::size_t refused = 0;
    for (int i = 0; i != 600; ++i) {
      std::string damaged = whole;
      // Headers are few bytes, and say most.
      const std::size_t at =
          i % 2 == 0 ? random.below(std::min<std::size_t>(damaged.size(), 200)) : random.below(damaged.size());
      damaged[at] = static_cast<char>(random.below(256));
      const answer a = ask(damaged, {.pixels_max = 1 << 20, .bytes_max = 1 << 22});
      CHECK(a.room_bytes <= 1 << 22);
      if (!a.why.ok()) {
        ++refused;
        CHECK((a.why.code() == status_code::data_loss || a.why.code() == status_code::invalid_argument ||
               a.why.code() == status_code::resource_exhausted));
      }
    }
    CHECK(refused > 5);
  }
}

TEST_CASE("a truncated JPEG is accepted if enough of its rows are complete, and the others are black") {
  const golden_cases golden;
  if (!is_available("decode_jpeg")) return;
  const std::string whole = sample_of(golden, "decode_jpeg");
  const tensor image = decode_jpeg(whole).value();
  const std::int64_t height = image.shape()[0];
  std::size_t accepted = 0, partial = 0;
  for (std::size_t n = 0; n < whole.size(); n += whole.size() / 60 + 1) {
    const std::string cut(whole.data(), n);
    CHECK(decode_jpeg(cut).why().code() != status_code::ok);
    std::int64_t rows = -1;  // the number that is complete
    for (int percent : {0, 1, 30, 60, 90, 99}) {
      auto part = decode_jpeg(cut, {.acceptable_fraction = percent / 100.0});
      if (!part.ok()) {
        CHECK((rows < 0 || static_cast<double>(rows) < percent / 100.0 * static_cast<double>(height)));
        continue;
      }
      ++accepted;
      REQUIRE(part->spec() == image.spec());
      const std::size_t row_bytes = part->size_bytes() / static_cast<std::size_t>(height);
      std::int64_t same = 0;
      while (same != height && std::memcmp(part->data() + static_cast<std::size_t>(same) * row_bytes,
                                           image.data() + static_cast<std::size_t>(same) * row_bytes, row_bytes) == 0)
        ++same;
      for (std::size_t i = static_cast<std::size_t>(same) * row_bytes; i != part->size_bytes(); ++i)
        REQUIRE(part->data()[i] == 0);
      CHECK((rows < 0 || rows == same));
      rows = same;
      CHECK(static_cast<double>(same) >= percent / 100.0 * static_cast<double>(height));
      partial += same > 0 && same < height;
    }
  }
  CHECK(accepted > 60);
  CHECK(partial > 20);
  CHECK(decode_jpeg(whole, {.acceptable_fraction = -0.1}).why().message() ==
        "decode_jpeg: acceptable_fraction must be 0 to 1, not -0.1");
}

TEST_CASE("an image of a few bytes that claims to be huge is refused before it gets room") {
  const golden_cases golden;
  std::map<std::string, std::string> bombs = {{"bmp", bmp_claiming(65535, 65535)}};
  if (is_available("decode_png")) {
    bombs["png"] = png_claiming(65535, 65535);
    bombs["png, largest"] = png_claiming(0x7fffffff, 0x7fffffff);
    bombs["png within the limits"] = png_claiming(16000, 16000);
  }
  if (is_available("decode_gif")) bombs["gif"] = gif_claiming(65535, 65535);
  if (is_available("decode_jpeg")) {
    const std::string jpeg = sample_of(golden, "decode_jpeg");
    bombs["jpeg"] = jpeg_claiming(jpeg, 65500, 65500);
    bombs["jpeg within the limits"] = jpeg_claiming(jpeg, 16000, 16000);
  }
  for (auto& [name, bytes] : bombs) {
    INFO(name);
    const answer a = ask(bytes);
    INFO(a.why.to_string());
    CHECK((a.why.code() == status_code::resource_exhausted || a.why.code() == status_code::data_loss));
    CHECK(a.room_bytes == 0);
  }
}

TEST_CASE("limits are checked before memory is requested, and the error names the limit") {
  const golden_cases golden;
  for (std::string_view call : kDecoders) {
    if (!is_available(call)) continue;
    INFO(call);
    const std::string whole = sample_of(golden, call);
    const std::pair<image_limits, std::string_view> cases[] = {
        {{.encoded_bytes_max = whole.size() - 1}, "encoded_bytes_max"},
        {{.side_max = 8}, "side_max"},
        {{.pixels_max = 100}, "pixels_max"},
        {{.bytes_max = 100}, "bytes_max"}};
    for (auto& [limits, word] : cases) {
      const answer a = ask(whole, limits);
      INFO(a.why.to_string());
      CHECK(a.why.code() == status_code::resource_exhausted);
      // libjpeg's own memory is refused in its words.
      if (word != "bytes_max") CHECK(a.why.message().find(word) != std::string_view::npos);
      CHECK(a.room_bytes == 0);
    }
  }
}

TEST_CASE("a sink without memory, and one that throws") {
  const std::string whole = "BM" + little(58, 8) + little(54, 4) + little(40, 4) + little(1, 4) + little(1, 4) +
                            little(1, 2) + little(24, 2) + std::string(24, '\0') + "abc" + std::string(1, '\0');
  CHECK(decode_bmp(whole, {}).ok());
  CHECK(decode_bmp(whole, {}, [](const image_spec&) -> std::uint8_t* { return nullptr; }).why().code() ==
        status_code::resource_exhausted);
  CHECK_THROWS_AS(decode_bmp(whole, {}, [](const image_spec&) -> std::uint8_t* { throw std::bad_alloc(); }),
                  std::bad_alloc);
  const golden_cases golden;
  for (std::string_view call : kDecoders)
    if (is_available(call)) {
      auto bad = [](const image_spec&) -> std::uint8_t* { throw std::bad_alloc(); };
      CHECK_THROWS_AS(decode_image(sample_of(golden, call), {}, bad), std::bad_alloc);
    }
}

TEST_CASE("BMPs without a size are refused by name") {
  auto said = [](const std::string& bytes) { return std::string(decode_bmp(bytes).why().message()); };
  CHECK(said(bmp_claiming(0, 4)) == "decode_bmp: an image of 0 rows and 4 columns");
  CHECK(said(bmp_claiming(4, -4)) == "decode_bmp: an image of 4 rows and -4 columns");
  CHECK(decode_bmp(bmp_claiming(std::numeric_limits<std::int32_t>::min(), 4)).why().code() ==
        status_code::resource_exhausted);
}

TEST_CASE("options that a format does not have are refused by name") {
  const std::string some = "some bytes that no decoder looks at";
  if (is_available("decode_jpeg")) {
    CHECK(decode_jpeg(some, {.channels = 2}).why().message() == "decode_jpeg: channels must be 0, 1 or 3, not 2");
    CHECK(decode_jpeg(some, {.ratio = 3}).why().message() == "decode_jpeg: ratio must be 1, 2, 4 or 8, not 3");
    CHECK(decode_jpeg(some).why().message() == "decode_jpeg: these bytes are no JPEG");
    CHECK(!decode_jpeg(some, {.crop = {.height = 1, .width = 1}, .apply_orientation = true}).ok());
  }
  if (is_available("decode_png")) {
    CHECK(decode_png(some, {.channels = 5}).why().message() == "decode_png: channels must be 0 to 4, not 5");
    CHECK(decode_png(some, {.type = dtype::float32}).why().message() == "decode_png: gives uint8 or uint16");
    CHECK(decode_png(some, {.type = dtype::int64}).why().message() == "decode_png: gives uint8 or uint16");
  }
  CHECK(decode_bmp(some, {.channels = 1}).why().message() == "decode_bmp: channels must be 0, 3 or 4, not 1");
  CHECK(decode_image(some).why().message() == "decode_image: these bytes are no JPEG, PNG, GIF, BMP or WebP");
  CHECK(decode_image("").why().message() == "decode_image: there are no bytes");
}

TEST_CASE("a format whose library was missing answers with the library's name") {
  const status why[] = {decode_jpeg("x").why(), decode_png("x").why(), decode_gif("x").why(), decode_webp("x").why()};
  const image_format formats[] = {image_format::jpeg, image_format::png, image_format::gif, image_format::webp};
  for (std::size_t i = 0; i != 4; ++i)
    CHECK((why[i].code() == status_code::unimplemented) == !sluice::lib::is_available(formats[i]));
}

}  // namespace sluice::lib::damaged_images_test

#endif
