// SPDX-License-Identifier: Apache-2.0
#include "format/json/json_cursor.hpp"

#include <algorithm>

#include "sluice/base/utf8.hpp"

namespace sluice::lib::json {
namespace {

/// Reads four hexadecimal digits. Returns a number above 0xFFFF if another character is among them.
std::uint32_t hexadecimal(const char* p) {
  std::uint32_t value = 0;
  for (int i = 0; i != 4; ++i) {
    const int digit = detail::hex_digit(p[i]);
    if (digit < 0) return ~std::uint32_t{0};
    value = value * 16 + static_cast<std::uint32_t>(digit);
  }
  return value;
}

/// Appends the character that begins after `\u`; `rest` begins with its digits. Returns the number of bytes read, 0 for
/// others than a character or a pair of surrogates.
std::size_t append_code(std::string_view rest, std::string& to) {
  if (rest.size() < 4) return 0;
  std::uint32_t code = hexadecimal(rest.data());
  std::size_t used = 4;
  if (code >= 0xD800 && code < 0xDC00) {
    if (rest.size() < 10 || rest[4] != '\\' || rest[5] != 'u') return 0;
    const std::uint32_t low = hexadecimal(rest.data() + 6);
    if (low < 0xDC00 || low > 0xDFFF) return 0;
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    used = 10;
  } else if (code > 0xFFFF || (code >= 0xDC00 && code <= 0xDFFF)) {
    return 0;
  }
  append_utf8(code, to);
  return used;
}

}  // namespace

bool json_cursor::unescape(std::string_view raw, std::string& to) {
  to.clear();
  while (!raw.empty()) {
    const std::size_t plain = std::min(raw.find('\\'), raw.size());
    to.append(raw.substr(0, plain));
    raw.remove_prefix(plain);
    if (raw.empty()) break;
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const std::size_t letter = kLetters.find(raw[1]);
    std::size_t used = 2;
    if (letter != kLetters.npos) {
      to += kMeanings[letter];
    } else {
      const std::size_t code = raw[1] == 'u' ? append_code(raw.substr(2), to) : 0;
      if (code == 0) return false;
      used += code;
    }
    raw.remove_prefix(used);
  }
  return true;
}

bool json_cursor::skip_value(std::size_t depth, std::string& scratch) {
  std::string_view raw;
  bool has_escapes = false;
  plain_number n;
  switch (next()) {
    case '"': ++at_; return text(raw, has_escapes) && (!has_escapes || unescape(raw, scratch));
    case 't': return take("true");
    case 'f': return take("false");
    case 'n': return take("null");
    case '[':
    case '{': break;
    default: return number(n) && !(n.is_whole && n.is_long);
  }
  if (depth == 0) return false;
  const bool is_object = *at_ == '{';
  const char close = is_object ? '}' : ']';
  ++at_;
  spaces();
  if (take(close)) return true;
  for (;;) {
    if (is_object) {
      if (!take('"') || !text(raw, has_escapes) || (has_escapes && !unescape(raw, scratch))) return false;
      spaces();
      if (!take(':')) return false;
      spaces();
    }
    if (!skip_value(depth - 1, scratch)) return false;
    spaces();
    if (take(close)) return true;
    if (!take(',')) return false;
    spaces();
  }
}

}  // namespace sluice::lib::json
