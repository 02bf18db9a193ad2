// SPDX-License-Identifier: Apache-2.0
// Animations: what becomes of a frame's area before the next frame is drawn.
#if SLUICE_HAVE_IMAGES
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "sluice/format/image_codecs.hpp"

namespace sluice::lib::gif_test {

namespace {

struct frame {
  int disposal = 0, transparent = -1;
  int y = 0, x = 0, height = 2, width = 3;
  std::string colors{};  ///< a digit for each pixel: 0 … 3
  std::string palette{};
};

std::string little16(int n) { return {static_cast<char>(n & 255), static_cast<char>(n >> 8)}; }

/// Codes of three bits. The dictionary is cleared after every second color, before codes become longer.
std::string coded(const std::string& colors) {
  constexpr unsigned kClear = 4, kEnd = 5;
  std::vector<unsigned> codes;
  for (std::size_t i = 0; i != colors.size(); ++i) {
    if (i % 2 == 0) codes.push_back(kClear);
    codes.push_back(static_cast<unsigned>(colors[i] - '0'));
  }
  codes.push_back(kEnd);
  std::string bytes;
  unsigned bits = 0, count = 0;
  for (unsigned c : codes) {
    bits |= c << count;
    for (count += 3; count >= 8; count -= 8, bits >>= 8) bytes += static_cast<char>(bits & 255);
  }
  bytes += static_cast<char>(bits);
  return "\2" + std::string(1, static_cast<char>(bytes.size())) + bytes + std::string(1, '\0');
}

/// Colors 0 … 3 are red, green, blue, and gray with the values 7 8 9.
const std::string kColors("\xff\0\0\0\xff\0\0\0\xff\7\10\11", 12);

/// A file of 2 rows and 3 columns. `background`: the color of the screen; -1: without a palette for all frames.
std::string file_of(const std::vector<frame>& frames, int background = 3) {
  std::string s = "GIF89a" + little16(3) + little16(2);
  s += static_cast<char>(background < 0 ? 0x01 : 0x81);
  s += static_cast<char>(std::max(background, 0));
  s += '\0';
  if (background >= 0) s += kColors;
  for (const frame& f : frames) {
    s += std::string("!\xf9\4") + static_cast<char>(f.disposal << 2 | (f.transparent >= 0 ? 1 : 0)) +
         std::string(2, '\0') + static_cast<char>(std::max(f.transparent, 0)) + std::string(1, '\0');
    s += "," + little16(f.x) + little16(f.y) + little16(f.width) + little16(f.height) +
         static_cast<char>(f.palette.empty() ? 0 : 0x81) + f.palette + coded(f.colors);
  }
  return s + ";";
}

/// A letter for each pixel, and a blank after each frame: r, g, b, y (gray), . (black or transparent).
std::string shown(const std::string& bytes, int channels = 3) {
  const auto image = decode_gif(bytes, {.channels = channels, .frames = frame_choice::all});
  if (!image.ok()) return image.why().to_string();
  std::string s;
  const auto* p = reinterpret_cast<const std::uint8_t*>(image->data());
  const auto step = static_cast<std::size_t>(channels);
  for (std::size_t i = 0; i != image->size_bytes() / step; ++i, p += step) {
    const char color = p[0] == 255 ? 'r' : p[1] == 255 ? 'g' : p[2] == 255 ? 'b' : p[0] == 7 ? 'y' : '.';
    if (channels == 4) CHECK(p[3] == (color == '.' ? 0 : 255));
    if (i != 0 && i % 6 == 0) s += ' ';
    s += color;
  }
  return s;
}

const frame kAllRed{.colors = "000000"};
/// One column in the middle.
frame column(int disposal, const std::string& colors, int transparent = -1) {
  return {.disposal = disposal, .transparent = transparent, .x = 1, .width = 1, .colors = colors};
}
const frame kBlueCorner{.y = 1, .x = 2, .height = 1, .width = 1, .colors = "2"};

}  // namespace

TEST_CASE("frames are drawn over the area that the frame before leaves behind") {
  if (!is_available(image_format::gif)) return;
  for (int channels : {3, 4}) {
    for (int stays : {0, 1, 4, 7}) {
      INFO(stays);
      CHECK(shown(file_of({kAllRed, column(stays, "11"), kBlueCorner}), channels) == "rrrrrr rgrrgr rgrrgb");
    }
    // The screen's color, or transparent if the frame has a transparent color or the file has no color for its screen.
    CHECK(shown(file_of({kAllRed, column(2, "11"), kBlueCorner}), channels) == "rrrrrr rgrrgr ryrryb");
    CHECK(shown(file_of({kAllRed, column(2, "13", 3), kBlueCorner}), channels) == "rrrrrr rgrrrr r.rr.b");
    const auto with_palette = [](frame f) {
      f.palette = kColors;
      return f;
    };
    CHECK(shown(file_of({with_palette(kAllRed), with_palette(column(2, "11")), with_palette(kBlueCorner)}, -1),
                channels) == "rrrrrr rgrrgr r.rr.b");
    CHECK(shown(file_of({kAllRed, column(3, "11"), kBlueCorner}), channels) == "rrrrrr rgrrgr rrrrrb");
  }
}

TEST_CASE("a frame is restored to what it covered, also after frames that were restored themselves") {
  if (!is_available(image_format::gif)) return;
  CHECK(shown(file_of({kAllRed, column(3, "11"), column(3, "22"), kBlueCorner})) == "rrrrrr rgrrgr rbrrbr rrrrrb");
  CHECK(shown(file_of({kAllRed, column(2, "11"), column(3, "22"), kBlueCorner})) == "rrrrrr rgrrgr rbrrbr ryrryb");
  CHECK(shown(file_of({kAllRed, column(3, "11"), column(2, "22"), kBlueCorner})) == "rrrrrr rgrrgr rbrrbr ryrryb");
  CHECK(shown(file_of({kAllRed, column(1, "11"), column(3, "22"), column(0, "03", 3)})) ==
        "rrrrrr rgrrgr rbrrbr rrrrgr");
}

TEST_CASE("the first frame is drawn over the background") {
  if (!is_available(image_format::gif)) return;
  CHECK(shown(file_of({column(0, "11")})) == "ygyygy");
  CHECK(shown(file_of({column(0, "12", 2)})) == ".g....");
  CHECK(shown(file_of({column(0, "12", 2)}), 4) == ".g....");
  frame first = kAllRed;
  first.disposal = 3;
  CHECK(shown(file_of({first, kBlueCorner})) == "rrrrrr yyyyyb");
  first.disposal = 2;
  CHECK(shown(file_of({first, kBlueCorner})) == "rrrrrr yyyyyb");
}

TEST_CASE("parts of frames outside of the screen are not drawn, and restored without them") {
  if (!is_available(image_format::gif)) return;
  for (int disposal : {0, 2, 3}) {
    INFO(disposal);
    const frame over{.disposal = disposal, .y = 1, .x = 2, .height = 2, .width = 2, .colors = "1222"};
    const frame away{.disposal = disposal, .y = 5, .x = 7, .height = 1, .width = 1, .colors = "1"};
    const std::string corner = disposal == 0 ? "g" : disposal == 2 ? "y" : "r";
    CHECK(shown(file_of({kAllRed, over, away, column(0, "22")})) == "rrrrrr rrrrrg rrrrr" + corner + " rbrrb" + corner);
  }
}

TEST_CASE("decode_image decodes a GIF with alpha on request") {
  if (!is_available(image_format::gif)) return;
  const std::string bytes = file_of({column(0, "12", 2)});
  CHECK(decode_image(bytes, {.channels = 4})->spec_text() == "uint8[2,3,4]");
  CHECK(decode_image(bytes)->spec_text() == "uint8[2,3,3]");
  CHECK(decode_gif(bytes, {.channels = 2}).why().message() == "decode_gif: channels must be 0, 3 or 4, not 2");
}

}  // namespace sluice::lib::gif_test

#endif
