// SPDX-License-Identifier: Apache-2.0
// BMPs of every kind that is read, pixel by pixel, and the reason for which each other kind is refused.
#if SLUICE_HAVE_IMAGES
#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

#include "sluice/format/image_codecs.hpp"

namespace sluice::lib::bmp_test {

namespace {

std::string little(std::uint64_t n, std::size_t bytes = 4) { return {reinterpret_cast<const char*>(&n), bytes}; }

struct described {
  int width = 2, height = 2, bits = 8;
  std::uint32_t compression = 0;
  std::string palette{};  ///< or masks
  std::string pixels{};   ///< as in the file
  std::uint32_t header = 40, colors = 0;
  std::string rest{};   ///< of the header beyond 40 bytes
  std::string after{};  ///< behind the pixels
};

std::string file_of(const described& d) {
  std::string head;
  if (d.header == 12) {
    head = little(12) + little(static_cast<unsigned>(d.width), 2) + little(static_cast<unsigned>(d.height), 2) +
           little(1, 2) + little(static_cast<unsigned>(d.bits), 2);
  } else {
    head = little(d.header) + little(static_cast<std::uint32_t>(d.width)) +
           little(static_cast<std::uint32_t>(d.height)) + little(1, 2) + little(static_cast<unsigned>(d.bits), 2) +
           little(d.compression) + little(0) + little(2835) + little(2835) + little(d.colors) + little(0) + d.rest;
    head.resize(d.header, '\0');
  }
  const std::size_t at = 14 + head.size() + d.palette.size();
  return "BM" + little(at + d.pixels.size()) + little(0) + little(at) + head + d.palette + d.pixels + d.after;
}

std::string text(std::initializer_list<int> bytes) {
  std::string s;
  for (int b : bytes) s += static_cast<char>(b);
  return s;
}

/// The image, or the error as text.
std::string shown(const std::string& bytes, int channels = 0) {
  const auto image = decode_bmp(bytes, {.channels = channels});
  if (!image.ok()) return image.why().to_string();
  std::string s = image->spec_text();
  for (std::size_t i = 0; i != image->size_bytes(); ++i)
    s += " " + std::to_string(static_cast<std::uint8_t>(image->data()[i]));
  return s;
}
std::string shown(const described& d, int channels = 0) { return shown(file_of(d), channels); }

// Blue, green, red, unused.
const std::string kRed = text({0, 0, 255, 0}), kTeal = text({128, 127, 1, 0}), kBlack = text({0, 0, 0, 0}),
                  kGray = text({9, 9, 9, 0}), kWhite = text({255, 255, 255, 0});

}  // namespace

TEST_CASE("palettes are applied, for 1, 2, 4 and 8 bits") {
  const std::string colors = kRed + kTeal + kBlack + kGray;
  // The lowest row is the first, and each row is padded to four bytes.
  CHECK(shown({.palette = colors, .pixels = text({2, 3, 0, 0, 0, 1, 0, 0})}) ==
        "uint8[2,2,3] 255 0 0 1 127 128 0 0 0 9 9 9");
  CHECK(shown({.bits = 4, .palette = colors, .pixels = text({0x23, 0, 0, 0, 0x01, 0, 0, 0})}) ==
        "uint8[2,2,3] 255 0 0 1 127 128 0 0 0 9 9 9");
  CHECK(shown({.bits = 2, .palette = colors, .pixels = text({0xb0, 0, 0, 0, 0x10, 0, 0, 0})}) ==
        "uint8[2,2,3] 255 0 0 1 127 128 0 0 0 9 9 9");
  CHECK(shown({.width = 9, .height = 1, .bits = 1, .palette = kBlack + kTeal, .pixels = text({0x81, 0x80, 0, 0})}) ==
        "uint8[1,9,3] 1 127 128 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 127 128 1 127 128");
  CHECK(shown({.height = 1, .palette = colors, .pixels = text({1, 3, 0, 0})}, 4) ==
        "uint8[1,2,4] 1 127 128 255 9 9 9 255");
  // The number of colors in the header limits the palette.
  CHECK(shown({.height = 1, .palette = colors, .pixels = text({1, 3, 0, 0}), .colors = 2}) ==
        "data_loss: decode_bmp: color 3 of a palette of 2, at byte 70");
  CHECK(shown({.palette = "", .pixels = std::string(8, '\0')}) ==
        "data_loss: decode_bmp: no palette before the pixels, at byte 54");
}

TEST_CASE("a palette of grays is one channel, of its grays and not of their numbers") {
  const described d{.height = 1, .palette = kWhite + kGray + kBlack, .pixels = text({0, 1, 0, 0})};
  CHECK(shown(d) == "uint8[1,2,1] 255 9");
  CHECK(shown(d, 3) == "uint8[1,2,3] 255 255 255 9 9 9");
}

TEST_CASE("rows may be stored from the top") {
  CHECK(shown({.height = -2, .palette = kBlack + kGray, .pixels = text({0, 1, 0, 0, 1, 1, 0, 0})}) ==
        "uint8[2,2,1] 0 9 9 9");
  CHECK(shown({.width = 1, .height = -2, .bits = 24, .pixels = text({1, 2, 3, 0, 4, 5, 6, 0})}) ==
        "uint8[2,1,3] 3 2 1 6 5 4");
}

TEST_CASE("runs of 8 bits: runs, single pixels, moves and ends") {
  const std::string grays = text({10, 10, 10, 0, 11, 11, 11, 0, 12, 12, 12, 0, 13, 13, 13, 0});
  const auto rows = [&](std::string runs) {
    return shown({.width = 5, .height = 3, .compression = 1, .palette = grays, .pixels = std::move(runs)});
  };
  CHECK(rows(text({5, 1, 0, 0, 2, 2, 3, 3, 0, 0, 0, 3, 1, 2, 3, 0, 2, 0, 0, 1})) ==
        "uint8[3,5,1] 11 12 13 10 10 12 12 13 13 13 11 11 11 11 11");
  // Moves two to the right and one row up; what is skipped has color 0, and so has the rest.
  CHECK(rows(text({1, 1, 0, 2, 2, 1, 1, 3, 0, 1})) == "uint8[3,5,1] 10 10 10 10 10 10 10 10 13 10 11 10 10 10 10");
  CHECK(rows(text({1, 1, 0, 2, 0, 2, 4, 2, 0, 1})) == "uint8[3,5,1] 10 12 12 12 12 10 10 10 10 10 11 10 10 10 10");
  // Without an end, after the last pixel.
  CHECK(rows(text({5, 1, 0, 0, 5, 2, 0, 0, 5, 3})) == "uint8[3,5,1] 13 13 13 13 13 12 12 12 12 12 11 11 11 11 11");
  CHECK(rows(text({5, 1, 0, 0, 5, 2, 0, 0, 4, 3})) == "data_loss: decode_bmp: premature end of the data at byte 80");
  CHECK(rows(text({5, 1, 0, 0, 5, 2, 0, 0, 0, 5, 1, 1})) ==
        "data_loss: decode_bmp: premature end of the data at byte 82");
  CHECK(rows(text({6, 1, 0, 1})) == "data_loss: decode_bmp: a row that is longer than the image, at byte 70");
  CHECK(rows(text({3, 1, 0, 3, 1, 1, 1, 0, 0, 1})) ==
        "data_loss: decode_bmp: a row that is longer than the image, at byte 72");
  CHECK(rows(text({3, 1, 0, 2, 3, 0, 0, 1})) ==
        "data_loss: decode_bmp: a row that is longer than the image, at byte 72");
  CHECK(rows(text({3, 1, 0, 2, 0, 3, 0, 1})) == "data_loss: decode_bmp: a move above the image at byte 72");
  CHECK(rows(text({3, 9, 0, 1})) == "data_loss: decode_bmp: color 9 of a palette of 4, at byte 72");
}

TEST_CASE("runs of 4 bits alternate two colors") {
  const std::string grays = text({10, 10, 10, 0, 11, 11, 11, 0, 12, 12, 12, 0, 13, 13, 13, 0});
  CHECK(shown({.width = 7,
               .height = 2,
               .bits = 4,
               .compression = 2,
               .palette = grays,
               .pixels = text({5, 0x12, 2, 0x30, 0, 0, 0, 5, 0x12, 0x31, 0x20, 0, 1, 0x10, 0, 1})}) ==
        "uint8[2,7,1] 11 12 13 11 12 11 10 11 12 11 12 11 13 10");
}

TEST_CASE("16 and 32 bits follow their masks, rounded to 8 bits") {
  // 5 bits each: 31, 16, 1.
  CHECK(shown({.width = 1, .height = 1, .bits = 16, .pixels = little(31 << 10 | 16 << 5 | 1)}) ==
        "uint8[1,1,3] 255 132 8");
  const std::string masks565 = little(0xf800) + little(0x07e0) + little(0x001f);
  CHECK(shown({.width = 1,
               .height = 1,
               .bits = 16,
               .compression = 3,
               .palette = masks565,
               .pixels = little(1 << 11 | 32 << 5 | 31)}) == "uint8[1,1,3] 8 130 255");
  const std::string other_order = little(0x000000ff) + little(0x0000ff00) + little(0x00ff0000);
  CHECK(shown({.width = 1,
               .height = 1,
               .bits = 32,
               .compression = 3,
               .palette = other_order,
               .pixels = text({1, 2, 3, 4})}) == "uint8[1,1,3] 1 2 3");
  const std::string ten_bits = little(0x3ff00000) + little(0x000ffc00) + little(0x000003ff);
  CHECK(shown({.width = 1,
               .height = 1,
               .bits = 32,
               .compression = 3,
               .palette = ten_bits,
               .pixels = little(1023u << 20 | 512 << 10 | 4)}) == "uint8[1,1,3] 255 128 1");
  // Alpha is in the headers of 56 bytes and more, and after masks of kind 6.
  const std::string with_alpha = little(0xff0000) + little(0xff00) + little(0xff) + little(0xff000000);
  CHECK(shown({.width = 1,
               .height = 1,
               .bits = 32,
               .compression = 3,
               .pixels = text({1, 2, 3, 4}),
               .header = 56,
               .rest = with_alpha}) == "uint8[1,1,4] 3 2 1 4");
  CHECK(shown({.width = 1,
               .height = 1,
               .bits = 32,
               .compression = 3,
               .pixels = text({1, 2, 3, 4}),
               .header = 52,
               .rest = with_alpha.substr(0, 12)}) == "uint8[1,1,3] 3 2 1");
  CHECK(shown({.width = 1,
               .height = 1,
               .bits = 32,
               .compression = 6,
               .palette = with_alpha,
               .pixels = text({1, 2, 3, 4})}) == "uint8[1,1,4] 3 2 1 4");
  CHECK(shown({.width = 1,
               .height = 1,
               .bits = 32,
               .compression = 3,
               .pixels = text({1, 2, 3, 4}),
               .header = 124,
               .rest = with_alpha},
              3) == "uint8[1,1,3] 3 2 1");
}

TEST_CASE("without masks the fourth byte is alpha only on request, and unless it is 0 everywhere") {
  const described written{.width = 2, .height = 1, .bits = 32, .pixels = text({1, 2, 3, 0, 4, 5, 6, 7})};
  const described unused{.width = 2, .height = 1, .bits = 32, .pixels = text({1, 2, 3, 0, 4, 5, 6, 0})};
  CHECK(shown(written) == "uint8[1,2,3] 3 2 1 6 5 4");
  CHECK(shown(written, 4) == "uint8[1,2,4] 3 2 1 0 6 5 4 7");
  CHECK(shown(unused, 4) == "uint8[1,2,4] 3 2 1 255 6 5 4 255");
}

TEST_CASE("headers of OS/2, and bytes after the pixels") {
  const std::string three = text({0, 0, 255, 128, 127, 1});
  CHECK(shown({.height = 1, .palette = three, .pixels = text({1, 0, 0, 0}), .header = 12}) ==
        "uint8[1,2,3] 1 127 128 255 0 0");
  CHECK(shown({.width = 1, .height = 1, .bits = 24, .pixels = text({1, 2, 3, 0}), .header = 12}) ==
        "uint8[1,1,3] 3 2 1");
  for (std::uint32_t header : {16u, 40u, 52u, 56u, 64u, 108u, 124u}) {
    INFO(header);
    CHECK(shown({.height = 1,
                 .palette = kRed + kTeal,
                 .pixels = text({1, 0, 0, 0}),
                 .header = header,
                 .after = "a profile"}) == "uint8[1,2,3] 1 127 128 255 0 0");
  }
}

TEST_CASE("BMPs of kinds that are not read are refused with the reason") {
  const auto why = [](described d) { return std::string(decode_bmp(file_of(d)).why().message()); };
  const std::string some(64, '\1');
  CHECK(why({.bits = 8, .compression = 2, .palette = kRed, .pixels = some}) ==
        "decode_bmp: run-length encoding of 4 bits with 8 bits a pixel");
  CHECK(why({.height = -2, .compression = 1, .palette = kRed, .pixels = some}) ==
        "decode_bmp: run-length encoding from top to bottom, which does not exist");
  CHECK(why({.bits = 0, .compression = 4, .pixels = some}) == "decode_bmp: a JPEG in the file, which is not read");
  CHECK(why({.bits = 0, .compression = 5, .pixels = some}) == "decode_bmp: a PNG in the file, which is not read");
  CHECK(why({.compression = 11, .pixels = some}) == "decode_bmp: compression 11, which is not read");
  CHECK(why({.bits = 24, .compression = 3, .pixels = some}) == "decode_bmp: masks with 24 bits a pixel");
  CHECK(why({.bits = 64, .pixels = some}) == "decode_bmp: 64 bits a pixel; 1, 2, 4, 8, 16, 24 and 32 are read");
  CHECK(why({.bits = 1, .compression = 3, .pixels = some, .header = 64}) ==
        "decode_bmp: Huffman coding of OS/2, which is not read");
  CHECK(why({.bits = 24, .compression = 4, .pixels = some, .header = 64}) ==
        "decode_bmp: run-length encoding of 24 bits of OS/2, which is not read");
  CHECK(why({.pixels = some, .header = 66}) == "decode_bmp: a header of 66 bytes, which no known kind has");
  const auto masks = [&](std::uint32_t red, std::uint32_t green, std::uint32_t blue, int bits = 32) {
    return why({.width = 1,
                .height = 1,
                .bits = bits,
                .compression = 3,
                .palette = little(red) + little(green) + little(blue),
                .pixels = some});
  };
  CHECK(masks(0xff00, 0x5, 0x30) == "decode_bmp: a mask with a gap between its bits, at byte 58");
  CHECK(masks(0xff00, 0x1f0, 0xf) == "decode_bmp: masks with common bits, at byte 58");
  CHECK(masks(0xff0000, 0xff00, 0xff, 16) == "decode_bmp: a mask beyond the 16 bits of a pixel, at byte 54");
  CHECK(masks(0, 0, 0) == "decode_bmp: masks without a color, at byte 54");
}

TEST_CASE("a run-length encoded file of a few bytes that claims many pixels gets no room") {
  const std::string bomb =
      file_of({.width = 16000, .height = 16000, .compression = 1, .palette = kRed + kTeal, .pixels = text({0, 1})});
  bool asked = false;
  std::vector<std::uint8_t> room;
  const auto done = decode_bmp(bomb, {}, [&](const image_spec& s) {
    asked = true;
    room.resize(s.bytes());
    return room.data();
  });
  CHECK(done.why().code() == status_code::data_loss);
  CHECK(!asked);
}

}  // namespace sluice::lib::bmp_test

#endif
