// SPDX-License-Identifier: Apache-2.0
#include "cli/messages/text_layout.hpp"

#include <absl/strings/str_format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "sluice/base/utf8.hpp"

namespace sluice::lib::cli {
namespace {

struct character_range {
  char32_t first, last;
};
/// Unicode 15: marks that are drawn over the character before them, and characters without a width.
constexpr character_range kCombining[] = {
    {0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},   {0x64B, 0x65F},   {0x900, 0x902},
    {0x93C, 0x93C},   {0x941, 0x948},   {0xE31, 0xE31},   {0xE34, 0xE3A},   {0xE47, 0xE4E},   {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}};
/// Characters of two columns (East Asian Width W and F, and emoji).
constexpr character_range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
                                     {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
                                     {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
                                     {0x17000, 0x18AFF}, {0x1B000, 0x1B2FF}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
                                     {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

template <std::size_t N> bool is_in(const character_range (&ranges)[N], char32_t c) {
  return std::any_of(ranges, ranges + N, [c](const character_range& r) { return c >= r.first && c <= r.last; });
}

std::size_t columns_of_character(char32_t c) { return is_in(kCombining, c) ? 0 : is_in(kWide, c) ? 2 : 1; }

/// REQUIRES: `bytes` is one well-formed character.
char32_t character_of(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  if (bytes.size() == 1) return first;
  char32_t c = first & (0xFFu >> (bytes.size() + 1));
  for (std::size_t i = 1; i != bytes.size(); ++i) c = c << 6 | (static_cast<unsigned char>(bytes[i]) & 0x3F);
  return c;
}

/// Calls `see(bytes, columns)` for each character; a byte that is not UTF-8 is one of one column. Ends if that returns
/// false.
template <class See> void each_character(std::string_view text, See see) {
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    const std::string_view bytes = text.substr(0, std::max<std::size_t>(n, 1));
    if (!see(bytes, n == 0 ? 1 : columns_of_character(character_of(bytes)))) return;
    text.remove_prefix(bytes.size());
  }
}

std::string escape_of(std::string_view bytes, bool is_utf8) {
  if (!is_utf8) return absl::StrFormat("\\x%02x", static_cast<unsigned char>(bytes[0]));
  switch (bytes[0]) {
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: return absl::StrFormat("\\u%04x", static_cast<unsigned>(character_of(bytes)));
  }
}

}  // namespace

std::size_t terminal_columns(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) return size.ws_col;
  const char* said = std::getenv("COLUMNS");
  const std::string_view text = said ? said : "";
  std::size_t columns = 0;
  auto read = std::from_chars(text.data(), text.data() + text.size(), columns);
  const bool is_number = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return is_number && columns > 1 ? columns : kUsualColumns;
}

std::size_t display_width(std::string_view text) {
  std::size_t all = 0;
  each_character(text, [&all](std::string_view, std::size_t columns) {
    all += columns;
    return true;
  });
  return all;
}

std::string_view beginning_of(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0, used = 0;
  each_character(text, [&](std::string_view character, std::size_t width) {
    if (used + width > columns) return false;
    used += width;
    bytes += character.size();
    return true;
  });
  return text.substr(0, bytes);
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (beginning_of(text, columns).size() == text.size()) return std::string(text);
  return std::string(beginning_of(text, columns - std::min<std::size_t>(columns, 1))) + "…";
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || (c >= 0x200E && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

std::string without_controls(std::string_view text, std::string_view kept) {
  std::string out;
  each_character(text, [&out, kept](std::string_view bytes, std::size_t) {
    const bool is_utf8 = utf8_length(bytes) != 0;
    if (is_utf8 && (!is_control(character_of(bytes)) || kept.find(bytes) != kept.npos)) out += bytes;
    else out += escape_of(bytes, is_utf8);
    return true;
  });
  return out;
}

std::string_view whole_characters_of(std::string_view text) {
  constexpr std::size_t kCharacterBytesMost = 4;
  for (std::size_t n = 1; n <= std::min(text.size(), kCharacterBytesMost); ++n) {
    const auto byte = static_cast<unsigned char>(text[text.size() - n]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t wanted = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return wanted > n ? text.substr(0, text.size() - n) : text;
  }
  return text;
}

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent, std::size_t first_column) {
  std::string out;
  std::size_t at = first_column;
  bool begins = true;  // no word is on this line yet
  auto begin_line = [&] {
    out.append("\n").append(indent, ' ');
    at = indent;
    begins = true;
  };
  while (!text.empty()) {
    if (text[0] == '\n') {
      begin_line();
      text.remove_prefix(1);
      continue;
    }
    const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find_first_of(" \n", blanks), text.size());
    const std::string_view word = text.substr(blanks, end - blanks);
    const std::size_t gap = begins && blanks <= 1 ? 0 : blanks;  // a line may be indented
    const std::size_t width = display_width(word);
    if (!begins && at + gap + width > columns) begin_line();
    else out.append(gap, ' '), at += gap;
    out += word;
    at += width;
    begins = begins && word.empty();
    text.remove_prefix(end);
  }
  return out;
}

std::string fitting_lines(std::string text, int fd) {
  if (!::isatty(fd)) return text;
  const std::size_t columns = terminal_columns(fd);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    out += display_width(line) <= columns
               ? std::string(line)
               : std::string(blanks, ' ') + wrapped(line.substr(blanks), columns, blanks + 2, blanks);
    if (end != text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

}  // namespace sluice::lib::cli
