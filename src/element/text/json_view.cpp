// SPDX-License-Identifier: Apache-2.0
#include "element/text/json_view.hpp"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/text/ascii.hpp"
#include "base/text/byte_order_mark.hpp"
#include "sluice/base/status.hpp"
#include "sluice/base/utf8.hpp"

namespace sluice::lib::detail {

namespace {

[[noreturn]] void refuse_json(const std::string& what) { throw error(invalid_argument_error(what)); }

/// Receives the parser's events and stores none. The parser checks UTF-8, escapes and brackets.
class depth_check {
 public:
  using json = nlohmann::json;

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(json::number_integer_t) { return true; }
  bool number_unsigned(json::number_unsigned_t) { return true; }
  bool number_float(json::number_float_t, const std::string&) { return true; }
  bool string(std::string&) { return true; }
  bool binary(json::binary_t&) { return false; }  // JSON has none
  bool start_object(std::size_t) { return open(); }
  bool start_array(std::size_t) { return open(); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string&) { return true; }
  bool parse_error(std::size_t, const std::string&, const json::exception& e) {
    std::string_view what = e.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
    auto id_end = what.find("] ");
    if (id_end != what.npos) what.remove_prefix(id_end + 2);
    refuse_json(absl::StrCat("not JSON: ", std::string(what.substr(0, kShownMax)), what.size() > kShownMax ? "…" : ""));
  }

 private:
  // the parser's message contains the whole last token, which may be long
  static constexpr std::size_t kShownMax = 300;

  bool open() {
    if (depth_++ == kJsonViewDepthMax)
      refuse_json(absl::StrCat("more than ", kJsonViewDepthMax, " arrays and objects deep"));
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }
  std::size_t depth_ = 0;
};

// --- Walking through a text that is valid JSON. ---

std::size_t past_space(std::string_view s, std::size_t at) {
  while (at != s.size() && (s[at] == ' ' || s[at] == '\n' || s[at] == '\r' || s[at] == '\t')) ++at;
  return at;
}
/// Returns the place after the string that begins at `at`.
std::size_t past_string(std::string_view s, std::size_t at) {
  for (++at; s[at] != '"'; ++at)
    if (s[at] == '\\') ++at;
  return at + 1;
}
/// Returns the place after the value at the start of s.
std::size_t past_value(std::string_view s) {
  if (s[0] == '"') return past_string(s, 0);
  if (s[0] != '[' && s[0] != '{') return std::min(s.find_first_of(",]} \n\r\t"), s.size());
  std::size_t depth = 0;
  for (std::size_t at = 0;;) {
    const char c = s[at];
    if (c == '"') {
      at = past_string(s, at);
      continue;
    }
    ++at;
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && --depth == 0) return at;
  }
}

std::uint32_t four_digits(std::string_view s, std::size_t at) {
  std::uint32_t v = 0;
  for (std::size_t i = 0; i != 4; ++i) v = v * 16 + static_cast<std::uint32_t>(hex_digit(s[at + i]));
  return v;
}

/// Decodes a string with its quotes.
std::string decoded(std::string_view quoted) {
  std::string out;
  std::string_view s = quoted.substr(1, quoted.size() - 2);
  for (std::size_t at = 0;;) {
    const std::size_t plain = std::min(s.find('\\', at), s.size());
    out.append(s, at, plain - at);
    if (plain == s.size()) return out;
    const char c = s[plain + 1];
    at = plain + 2;
    switch (c) {
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'u': {
        std::uint32_t unit = four_digits(s, at);
        at += 4;
        if (unit >= 0xD800 && unit < 0xDC00) {  // the check has verified that the other half follows
          unit = 0x10000 + ((unit - 0xD800) << 10) + (four_digits(s, at + 2) - 0xDC00);
          at += 6;
        }
        append_utf8(unit, out);
        break;
      }
      default: out += c;  // a quote, a backslash or a slash
    }
  }
}

}  // namespace

json_value::kind_type json_value::kind() const {
  switch (rest_[0]) {
    case 'n': return null;
    case 't':
    case 'f': return boolean;
    case '"': return string;
    case '[': return array;
    case '{': return object;
    default: return number;
  }
}

std::string_view json_value::spelled() const { return rest_.substr(0, past_value(rest_)); }
std::string json_value::text() const { return decoded(spelled()); }

std::size_t json_value::count() const {
  std::size_t n = 0;
  for (json_items items(*this); items.next();) ++n;
  return n;
}

std::string json_value::shown() const {
  constexpr std::size_t kMax = 40;
  switch (kind()) {
    case null: return "null";
    case boolean: return std::string(spelled());
    case number: {
      std::string_view s = spelled();
      return s.size() > kMax ? std::string(s.substr(0, kMax)) + "…" : std::string(s);
    }
    case string: {
      const std::string s = text();
      auto end = kMax;  // the end of a character
      while (end < s.size() && (static_cast<unsigned char>(s[end]) & 0xC0) == 0x80) ++end;
      return s.size() > end ? "\"" + s.substr(0, end) + "…\"" : "\"" + s + "\"";
    }
    case array: return absl::StrCat("an array of ", count());
    case object: {
      json_items first(*this);
      return first.next() ? absl::StrCat("an object with ", first.name()) : "an empty object";
    }
  }
  return {};
}

json_items::json_items(const json_value& of) : rest_(of.rest_), has_names_(of.kind() == json_value::object) {}

bool json_items::next() {
  std::size_t at = past_space(rest_, is_first_ ? 1 : past_value(rest_));
  if (rest_[at] == ']' || rest_[at] == '}') return false;
  if (!is_first_) at = past_space(rest_, at + 1);  // a comma
  is_first_ = false;
  if (has_names_) {
    const std::size_t end = past_string(rest_, at);
    name_ = decoded(rest_.substr(at, end - at));
    at = past_space(rest_, past_space(rest_, end) + 1);  // a colon
  }
  rest_.remove_prefix(at);
  return true;
}

json_value checked_json(std::string_view text) {
  depth_check check;
  nlohmann::json::sax_parse(text.begin(), text.end(), &check);
  text.remove_prefix(detail::byte_order_mark_bytes(text));
  return json_value(text.substr(past_space(text, 0)));
}

}  // namespace sluice::lib::detail
