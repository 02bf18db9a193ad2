// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/utf8.hpp"

#include <cstdint>
#include <cstring>

#include "sluice/base/assert.hpp"

namespace sluice::lib {

namespace {

/// Returns the number of leading bytes that are ASCII, in whole groups of 32: most texts consist mainly of these.
std::size_t ascii_in_front(std::string_view s) noexcept {
  std::size_t n = 0;
  for (; s.size() - n >= 32; n += 32) {
    std::uint64_t words[4];
    std::memcpy(words, s.data() + n, sizeof words);
    if (((words[0] | words[1] | words[2] | words[3]) & 0x8080808080808080u) != 0) break;
  }
  return n;
}

}  // namespace

std::size_t utf8_length(std::string_view s) noexcept {
  SLUICE_REQUIRES(!s.empty(), "a text without bytes has no first character");
  auto byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  auto follows = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  unsigned lead = byte(0), next = byte(1);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if ((lead == 0xE0 && next < 0xA0) || (lead == 0xED && next > 0x9F)) return 0;
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if ((lead == 0xF0 && next < 0x90) || (lead == 0xF4 && next > 0x8F)) return 0;
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

bool is_utf8(std::string_view s) noexcept {
  for (;;) {
    s.remove_prefix(ascii_in_front(s));
    if (s.empty()) return true;
    for (std::size_t until = s.size() > 32 ? s.size() - 32 : 0; s.size() > until;) {
      auto n = utf8_length(s);
      if (n == 0) return false;
      s.remove_prefix(n);
    }
  }
}

void append_utf8(std::uint32_t code, std::string& to) {
  SLUICE_ASSERT(code <= 0x10FFFF, "a character is at most U+10FFFF");
  const auto put = [&to](std::uint32_t byte) { to += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

}  // namespace sluice::lib
