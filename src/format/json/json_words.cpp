// SPDX-License-Identifier: Apache-2.0
#include "format/json/json_words.hpp"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/text/ascii.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kWordShownBytes = 40;
constexpr std::string_view kJsonBlanks = " \t\r\n";

bool is_word_byte(char c) {
  return detail::is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

/// Walks over a text, value by value, without checking its structure.
class mistake_finder {
 public:
  explicit mistake_finder(std::string_view json) : json_(json) {}

  std::string find() {
    while (skip_blanks()) {
      const char c = json_[at_];
      if (at_ == 0 && c == '<') return "it begins with <, as HTML and XML do, which servers send in place of data";
      std::string mistake;
      if (c == '"') mistake = text();
      else if (c == '\'') return single_quotes();
      else if (c == '/' || c == '#') return "JSON has no comments";
      else if (c == ',') mistake = comma();
      else if (is_word_byte(c) || c == '-' || c == '+' || c == '.') mistake = word();
      else ++at_;
      if (!mistake.empty()) return mistake;
      follow(c);
      if (depth_ == 0 && skip_blanks() && (json_[at_] == '{' || json_[at_] == '['))
        return "a second JSON text follows on the line: each stands on a line of its own";
    }
    return {};
  }

 private:
  bool skip_blanks() {
    at_ = std::min(json_.find_first_not_of(kJsonBlanks, at_), json_.size());
    return at_ != json_.size();
  }
  void follow(char c) {
    if (c == '{' || c == '[') ++depth_;
    if ((c == '}' || c == ']') && depth_ != 0) --depth_;
  }
  std::string text() {
    for (++at_; at_ < json_.size() && json_[at_] != '"'; ++at_) {
      if (json_[at_] == '\t') return "a tab stands in a text: write \\t";
      if (json_[at_] != '\\' || ++at_ == json_.size()) continue;
      if (std::string_view("\"\\/bfnrtu").find(json_[at_]) == std::string_view::npos && json_[at_] > ' ')
        return absl::StrCat("\\", std::string(json_.substr(at_, 1)),
                            " in a text is no escape: write \\\\ for a backslash");
      if (json_[at_] == 'u')
        if (std::string why = half_character(); !why.empty()) return why;
    }
    if (at_ >= json_.size()) return "a text has no closing quote";
    ++at_;
    return {};
  }
  /// Called at the u of an escape. Moves to its last digit, and behind the second half of a character.
  std::string half_character() {
    std::uint32_t code = 0, second = 0;
    const std::size_t first_at = at_ - 1;
    if (!read_code(at_ + 1, code)) return {};
    at_ += 4;
    const bool is_first = code >= 0xd800 && code < 0xdc00, is_second = code >= 0xdc00 && code < 0xe000;
    if (!is_first && !is_second) return {};
    if (is_first && json_.substr(at_ + 1).starts_with("\\u") && read_code(at_ + 3, second) && second >= 0xdc00 &&
        second < 0xe000) {
      at_ += 6;
      return {};
    }
    return absl::StrCat(std::string(json_.substr(first_at, 6)), " in a text is half of a character: its other half, \\",
                        is_first ? "udc00 to \\udfff, follows" : "ud800 to \\udbff, precedes", " it");
  }
  bool read_code(std::size_t at, std::uint32_t& code) const {
    if (json_.size() < at + 4) return false;
    const char* const end = json_.data() + at + 4;
    const auto read = std::from_chars(json_.data() + at, end, code, 16);
    return read.ec == std::errc() && read.ptr == end;
  }
  std::string single_quotes() const {
    const std::size_t end = std::min(json_.find('\'', at_ + 1), json_.size());
    const std::string inner(json_.substr(at_ + 1, end - at_ - 1));
    if (inner.size() > kWordShownBytes || inner.find('"') != inner.npos)
      return "a text stands in single quotes, and JSON has double quotes";
    return absl::StrCat("a text stands in single quotes: write \"", inner, "\"");
  }
  std::string comma() {
    ++at_;
    if (depth_ == 0) return "a comma follows the text: JSON lines have none between them";
    if (!skip_blanks() || (json_[at_] != '}' && json_[at_] != ']')) return {};
    return absl::StrCat("a comma stands before ", std::string(json_.substr(at_, 1)), ": remove it");
  }
  std::string word() {
    const std::size_t from = at_++;
    while (at_ != json_.size() &&
           (is_word_byte(json_[at_]) || json_[at_] == '.' || json_[at_] == '-' || json_[at_] == '+'))
      ++at_;
    const std::string found(json_.substr(from, at_ - from));
    if (found.size() > kWordShownBytes) return {};
    const bool is_key = skip_blanks() && json_[at_] == ':';
    if (is_key) return absl::StrCat("the key ", found, " stands without quotes: write \"", found, "\"");
    return found == "true" || found == "false" || found == "null" ? std::string() : wrong_value(found);
  }
  static std::string wrong_value(std::string_view found) {
    std::string_view bare = found;
    const bool is_negative = bare.starts_with('-');
    if (is_negative || bare.starts_with('+')) bare.remove_prefix(1);
    const absl::string_view any(bare.data(), bare.size());
    const std::string shown(found);
    if (absl::EqualsIgnoreCase(any, "nan"))
      return absl::StrCat(shown, " stands without quotes: write \"NaN\", which a double reads, or null");
    if (absl::EqualsIgnoreCase(any, "inf") || absl::EqualsIgnoreCase(any, "infinity"))
      return absl::StrCat(shown, " stands without quotes: write \"", is_negative ? "-" : "",
                          "Infinity\", which a double reads");
    if (absl::EqualsIgnoreCase(any, "true") || absl::EqualsIgnoreCase(any, "false"))
      return absl::StrCat(shown, " is no value of JSON: write ",
                          absl::EqualsIgnoreCase(any, "true") ? "true" : "false");
    if (bare == "None" || bare == "undefined" || bare == "nil" || absl::EqualsIgnoreCase(any, "null"))
      return absl::StrCat(shown, " is no value of JSON: write null");
    return wrong_number(found, bare);
  }
  static std::string wrong_number(std::string_view found, std::string_view bare) {
    const std::string shown(found);
    if (bare.empty()) return {};
    if (!detail::is_digit(bare[0]) && bare[0] != '.')
      return absl::StrCat(shown, " stands without quotes: write \"", shown, "\"");
    if (found.starts_with('+')) return absl::StrCat(shown, ": a number has no + before it");
    if (bare.starts_with('.') || bare.ends_with('.') || bare.find(".e") != bare.npos)
      return absl::StrCat(shown, ": digits stand on both sides of a number's point");
    if (bare.size() > 1 && bare.starts_with('0') && bare.find_first_not_of("0123456789") == bare.npos)
      return absl::StrCat(shown, ": a number begins with one 0 at most; a code such as this is a text: write \"", shown,
                          "\"");
    if (double d = 0;
        bare.find_first_of("xX_") != bare.npos || !absl::SimpleAtod(absl::string_view(bare.data(), bare.size()), &d))
      return absl::StrCat(shown, " is no number: a text stands in double quotes");
    return {};
  }

  std::string_view json_;
  std::size_t at_ = 0, depth_ = 0;
};

}  // namespace

std::string explained_mistake(std::string_view json) { return mistake_finder(json).find(); }

}  // namespace sluice::lib
