// SPDX-License-Identifier: Apache-2.0
// Lines against a splitter that looks at one byte after the other.
#include <algorithm>
#include <vector>

#include "fuzz/target.hpp"
#include "sluice/format/lines_scan.hpp"

namespace sluice::lib::fuzz {
namespace {

std::vector<std::string> expected(std::string_view text) {
  std::vector<std::string> lines;
  std::string line;
  for (char c : text) {
    if (c == '\n') {
      lines.push_back(line);
      line.clear();
    } else if (c != '\r') {
      line += c;
    }
  }
  if (!line.empty()) lines.push_back(line);  // as in tf.data: a last line of nothing but '\r' is none
  return lines;
}

/// Every window is an allocation of its own, so that ASan sees a read beyond it.
std::vector<std::string> split(std::string_view text, std::size_t window_bytes, std::size_t lines_max) {
  std::vector<std::string> lines;
  std::vector<std::string_view> out(lines_max);
  std::size_t at = 0, have = std::min(window_bytes, text.size());
  for (;;) {
    bool last = at + have == text.size();
    std::vector<char> window(text.begin() + static_cast<std::ptrdiff_t>(at),
                             text.begin() + static_cast<std::ptrdiff_t>(at + have));
    auto passed = pass_over_lines({window.data(), window.size()}, last, lines_max);
    auto s = scan_lines(window, last, out.data(), lines_max);
    expect(s.used_bytes <= have && s.lines <= lines_max, "a scan went beyond its window");
    expect(passed.used_bytes == s.used_bytes && passed.lines == s.lines, "passing over lines counts others");
    for (std::size_t i = 0; i != s.lines; ++i) lines.emplace_back(out[i]);
    at += s.used_bytes;
    if (last && at == text.size()) return lines;
    expect(s.lines != 0 || !last, "a last window keeps bytes back");
    have = std::min(s.lines == 0 ? have + window_bytes : std::max(window_bytes, have - s.used_bytes), text.size() - at);
  }
}

}  // namespace

void lines(std::string_view bytes) {
  input in(bytes);
  std::size_t window_bytes = 1 + in.byte(), lines_max = 1 + in.byte() % 16;
  std::string_view text = in.rest();
  auto want = expected(text);
  expect(split(text, window_bytes, lines_max) == want, "windows of a text give other lines");
  expect(split(text, text.size() + 1, want.size() + 1) == want, "a text at once gives other lines");
}

}  // namespace sluice::lib::fuzz
