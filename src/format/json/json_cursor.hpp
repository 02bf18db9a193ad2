// SPDX-License-Identifier: Apache-2.0
// Reads the usual forms of JSON from a text, one token after another, without a document in memory. Every function
// returns false where it meets another form, right or wrong: the caller then has simdjson read the text. So what is
// accepted here must be JSON in UTF-8 and mean the same there.
//
//   json_cursor c(text, behind);
//   if (c.take('"') && c.text(raw, has_escapes) && …)
//
// Thread: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/text/ascii.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sluice::lib::json {

/// A number without a point or an exponent has `is_whole`. Its value is digits * 10^exponent, negated if `is_negative`.
struct plain_number {
  std::uint64_t digits = 0;
  std::int32_t exponent = 0;
  bool is_negative = false;
  bool is_whole = true;
  bool is_long = false;      ///< has more than 18 digits, which `digits` does not contain
  std::string_view token{};  ///< its characters
};

class json_cursor {
 public:
  /// `behind`: the number of readable bytes after the text.
  json_cursor(std::string_view text, std::size_t behind)
      : at_(text.data()), end_(at_ + text.size()), readable_(end_ + behind) {}

  bool is_at_end() const noexcept { return at_ == end_; }
  /// Returns true if bytes were read that are no ASCII: the text must be checked then.
  bool has_other_bytes() const noexcept { return has_other_bytes_; }
  char next() const noexcept { return at_ == end_ ? '\0' : *at_; }

  void spaces() noexcept {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) ++at_;
  }
  bool take(char c) noexcept {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) noexcept {
    if (static_cast<std::size_t>(end_ - at_) < word.size() || std::memcmp(at_, word.data(), word.size()) != 0)
      return false;
    at_ += word.size();
    return true;
  }
  /// Reads a text after its opening quote, and the closing quote. `raw`: its characters as they are written. Escape
  /// sequences are checked by unescape().
  bool text(std::string_view& raw, bool& has_escapes) noexcept {
    const char* const begin = at_;
    has_escapes = false;
    for (;;) {
      skip_plain();
      if (at_ == end_) return false;
      if (*at_ == '"') break;
      if (*at_ != '\\' || end_ - at_ < 2) return false;
      has_escapes = true;
      at_ += 2;
    }
    raw = {begin, static_cast<std::size_t>(at_ - begin)};
    ++at_;
    return true;
  }
  bool number(plain_number& n) noexcept {
    const char* const begin = at_;
    n = {};
    n.is_negative = take('-');
    const char* const first = at_;
    const std::size_t whole = digits(n.digits);
    if (whole == 0 || (whole > 1 && *first == '0')) return false;
    std::size_t fraction = 0;
    if (take('.')) {
      fraction = digits(n.digits);
      if (fraction == 0) return false;
      n.is_whole = false;
      n.exponent = -static_cast<std::int32_t>(fraction);
    }
    n.is_long = whole + fraction > kDigitsMax;
    if (n.is_long && whole + fraction > kLongDigitsMax) return false;
    if ((next() | 0x20) == 'e' && !exponent(n)) return false;
    n.token = {begin, static_cast<std::size_t>(at_ - begin)};
    const char c = next();
    return at_ == end_ || c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
  }
  /// Checks any value and moves after it. `depth`: the number of levels that it may have. `scratch` receives anything.
  bool skip_value(std::size_t depth, std::string& scratch);

  /// Replaces escape sequences by their characters.
  static bool unescape(std::string_view raw, std::string& to);

 private:
  static constexpr std::size_t kDigitsMax = 18;
  static constexpr std::size_t kLongDigitsMax = 100;  ///< with the exponent, far from the largest double
  static constexpr std::int32_t kExponentMax = 200;

  /// Moves to the next quote, backslash or control character, or to the end.
  void skip_plain() noexcept {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\'), last_control = _mm_set1_epi8(0x1F);
    while (readable_ - at_ >= 16 && at_ < end_) {
      const __m128i word = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at_));
      const __m128i control = _mm_cmpeq_epi8(_mm_max_epu8(word, last_control), last_control);
      const __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(word, quote), _mm_cmpeq_epi8(word, escape));
      const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(ends, control)));
      const auto others = static_cast<unsigned>(_mm_movemask_epi8(word));
      if (found != 0) {
        const int before = __builtin_ctz(found);
        has_other_bytes_ |= (others & ((1U << before) - 1)) != 0;
        at_ = before < end_ - at_ ? at_ + before : end_;
        return;
      }
      has_other_bytes_ |= others != 0;
      at_ = end_ - at_ < 16 ? end_ : at_ + 16;
    }
#endif
    while (at_ != end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) > 0x1F)
      has_other_bytes_ |= (*at_++ & 0x80) != 0;
  }
  std::size_t digits(std::uint64_t& value) noexcept {
    const char* const begin = at_;
    for (; at_ != end_ && detail::is_digit(*at_); ++at_) value = value * 10 + static_cast<std::uint64_t>(*at_ - '0');
    return static_cast<std::size_t>(at_ - begin);
  }
  bool exponent(plain_number& n) noexcept {
    ++at_;
    const bool is_negative = take('-');
    if (!is_negative) take('+');
    std::uint64_t value = 0;
    const std::size_t count = digits(value);
    if (count == 0 || count > 4 || value > kExponentMax) return false;
    n.exponent += is_negative ? -static_cast<std::int32_t>(value) : static_cast<std::int32_t>(value);
    n.is_whole = false;
    return n.exponent > -kExponentMax;
  }

  const char* at_;
  const char* end_;
  const char* readable_;
  bool has_other_bytes_ = false;
};

}  // namespace sluice::lib::json
