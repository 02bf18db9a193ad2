// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <random>
#include <vector>

#include "sluice/format/lines_scan.hpp"

namespace sluice::lib::lines_test {

namespace {

/// The definition, byte by byte: tf.data's, for which a last line of carriage returns is none.
std::vector<std::string> reference(std::string_view text) {
  std::vector<std::string> lines;
  std::string line;
  for (char c : text) {
    if (c == '\n') {
      lines.push_back(line);
      line.clear();
    } else if (c != '\r') line += c;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::vector<std::string> split(std::string text, std::size_t window_bytes, std::size_t lines_max) {
  std::vector<std::string> lines;
  std::vector<std::string_view> out(lines_max);
  std::size_t at = 0, have = std::min(window_bytes, text.size());
  for (;;) {
    bool last = at + have == text.size();
    std::string window = text.substr(at, have);  // its own allocation, so that ASan sees a read beyond it
    std::size_t passed = pass_over_lines(window, last, lines_max).used_bytes;
    auto s = scan_lines(window, last, out.data(), lines_max);
    REQUIRE(passed == s.used_bytes);
    for (std::size_t i = 0; i < s.lines; ++i) lines.emplace_back(out[i]);
    at += s.used_bytes;
    if (last && at == text.size()) return lines;
    have = std::min(s.lines == 0 ? have + window_bytes : std::max(window_bytes, have - s.used_bytes), text.size() - at);
  }
}

}  // namespace

TEST_CASE("a window whose front is known to have no line end is searched after that, with the same result") {
  unsigned seed = 22;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 200, 'a');
    for (char& c : text) c = random() % 60 == 0 ? '\n' : random() % 20 == 0 ? '\r' : c;
    std::size_t end = std::min(text.find('\n'), text.size()), searched = random() % (end + 1);
    for (bool last : {false, true}) {
      std::string copy = text, other = text;
      std::string_view out[4], want[4];
      auto scan = scan_lines(copy, last, out, 4, searched), whole = scan_lines(other, last, want, 4);
      REQUIRE(scan.lines == whole.lines);
      REQUIRE(scan.used_bytes == whole.used_bytes);
      for (std::size_t i = 0; i != scan.lines; ++i) REQUIRE(out[i] == want[i]);
      auto passed = pass_over_lines(text, last, 4, searched);
      REQUIRE(passed.lines == whole.lines);
      REQUIRE(passed.used_bytes == whole.used_bytes);
    }
  }
}

TEST_CASE("lines are split as byte by byte, in windows of any size") {
  unsigned seed = 21;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    unsigned returns = random() % 3 == 0 ? 3 : 40;
    for (std::size_t n = random() % 700; n > 0; --n)
      text += random() % 20 == 0 ? '\n' : random() % returns == 0 ? '\r' : static_cast<char>('a' + random() % 26);
    auto want = reference(text);
    for (std::size_t window : {1u, 33u, 64u, 1000u})
      for (std::size_t max : {1u, 5u, 100u}) REQUIRE(split(text, window, max) == want);
  }
}

TEST_CASE("empty lines and a last line without its end are kept; nothing follows a last line end") {
  CHECK(split("", 10, 10).empty());
  CHECK(split("\n", 10, 10) == std::vector<std::string>{""});
  CHECK(split("a\n\nb", 10, 10) == std::vector<std::string>{"a", "", "b"});
  CHECK(split("a\n\nb\n", 10, 10) == std::vector<std::string>{"a", "", "b"});
  CHECK(split("a\r\nb\rc\r\n\r", 10, 10) == std::vector<std::string>{"a", "bc"});
  CHECK(split("a\n\r", 10, 10) == std::vector<std::string>{"a"});
  CHECK(split("a\n\r\r\r", 2, 10) == std::vector<std::string>{"a"});
  CHECK(split("\r", 10, 10).empty());
  CHECK(split("\r\n\r", 10, 10) == std::vector<std::string>{""});
}

TEST_CASE("lines cut from a buffer count one reference each") {
  buffer_ref owner(buffer::make(64));
  std::string text = "one\ntwo\nthree";
  text.copy(owner->data(), text.size());
  alignas(line) char room[4 * sizeof(line)];
  auto* out = reinterpret_cast<line*>(room);
  auto s = scan_lines({owner->data(), text.size()}, false, *owner.get(), out, 4);
  REQUIRE(s.lines == 2);
  CHECK(s.used_bytes == 8);
  CHECK(out[1].view() == "two");
  CHECK_FALSE(owner->unshared());
  line::sluice_destroy(out, 2);
  CHECK(owner->unshared());
}

}  // namespace sluice::lib::lines_test
