// SPDX-License-Identifier: Apache-2.0
#include "element/text/scan_text.hpp"

#include "absl/strings/str_cat.h"
#include "sluice/base/status.hpp"
#include "sluice/base/utf8.hpp"

namespace sluice::lib::detail {

text_scanner::text_scanner(std::string_view text, std::string_view what) : text_(text), what_(what) {}

void text_scanner::fail(std::string_view why) const { fail_at(at_, why); }
void text_scanner::fail_at(std::size_t at, std::string_view why) const {
  throw error(invalid_argument_error(absl::StrCat(std::string(what_), ", character ", at + 1, ": ", std::string(why))));
}
void text_scanner::fail_expecting(std::string_view wanted) const {
  if (at_ == text_.size()) fail(absl::StrCat("it ends where ", std::string(wanted), " should be"));
  auto n = utf8_length(text_.substr(at_));
  std::string got = n == 0 ? "a byte that is not UTF-8" : absl::StrCat("'", std::string(text_.substr(at_, n)), "'");
  fail(absl::StrCat("expected ", std::string(wanted), ", got ", got));
}

void text_scanner::skip_spaces() {
  while (at_ != text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
}
bool text_scanner::at(char c) {
  skip_spaces();
  return at_ != text_.size() && text_[at_] == c;
}
bool text_scanner::take(char c) {
  if (!at(c)) return false;
  ++at_;
  return true;
}
bool text_scanner::take(std::string_view word) {
  skip_spaces();
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}
void text_scanner::expect(char c) {
  if (!take(c)) fail_expecting(absl::StrCat("'", std::string(1, c), "'"));
}
bool text_scanner::done() {
  skip_spaces();
  return at_ == text_.size();
}

std::string text_scanner::name(std::string_view wanted) {
  skip_spaces();
  if (at_ != text_.size() && text_[at_] == '"') return quoted();
  if (at_ != text_.size() && text_[at_] == '`') return in_backticks();
  std::size_t from = at_;
  while (at_ != text_.size() && is_name_char(text_[at_])) ++at_;
  if (from == at_ || absl::ascii_isdigit(static_cast<unsigned char>(text_[from]))) {
    at_ = from;
    fail_expecting(wanted);
  }
  return std::string(text_.substr(from, at_ - from));
}

std::string text_scanner::in_backticks() {
  const std::size_t from = at_++;
  const std::size_t end = text_.find('`', at_);
  if (end == text_.npos || end == at_) fail_at(from, end == at_ ? "the name is empty" : "the name has no end");
  at_ = end + 1;
  return std::string(text_.substr(from + 1, end - from - 1));
}

std::string text_scanner::quoted() {
  std::string name;
  std::size_t from = at_++;
  auto hex = [this] {
    char c = at_ != text_.size() ? text_[at_] : '\0';
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) fail_expecting("a hexadecimal digit");
    ++at_;
    return absl::ascii_isdigit(static_cast<unsigned char>(c))
               ? c - '0'
               : absl::ascii_tolower(static_cast<unsigned char>(c)) - 'a' + 10;
  };
  for (;;) {
    if (at_ == text_.size()) fail_at(from, "the name has no end");
    char c = text_[at_++];
    if (c == '"') return name;
    if (c != '\\') {
      name += c;
    } else if (take_here('x')) {
      int high = hex();
      name += static_cast<char>(high * 16 + hex());
    } else if (take_here('"')) {
      name += '"';
    } else if (take_here('\\')) {
      name += '\\';
    } else {
      fail_expecting("\\\", \\\\ or \\xHH");
    }
  }
}

bool text_scanner::take_here(char c) {
  if (at_ == text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

std::uint64_t text_scanner::number(std::uint64_t most) {
  skip_spaces();
  std::size_t from = at_;
  std::uint64_t n = 0;
  for (; at_ != text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[at_])); ++at_) {
    n = n * 10 + static_cast<std::uint64_t>(text_[at_] - '0');
    if (n > most) fail_at(from, absl::StrCat("more than ", most));
  }
  if (from == at_) fail_expecting("a number");
  return n;
}

std::string_view usual_type_name(std::string_view name) {
  struct other_name {
    std::string_view name, usual;
  };
  static constexpr other_name kOthers[] = {
      {"bytes", "string"},   {"text", "string"},   {"str", "string"},    {"utf8", "string"},   {"varchar", "string"},
      {"binary", "string"},  {"int", "int64"},     {"integer", "int64"}, {"long", "int64"},    {"bigint", "int64"},
      {"smallint", "int16"}, {"tinyint", "int8"},  {"uint", "uint64"},   {"byte", "uint8"},    {"boolean", "bool"},
      {"float64", "double"}, {"float32", "float"}, {"real", "double"},   {"number", "double"}, {"f32", "float"},
      {"f64", "double"},     {"i32", "int32"},     {"i64", "int64"},     {"u8", "uint8"},      {"u32", "uint32"},
      {"u64", "uint64"}};
  for (const other_name& o : kOthers)
    if (o.name == name) return o.usual;
  return name;
}

void append_single_quoted(std::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '\'';
  for (char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20 || u >= 0x7F) {
      out += "\\x";
      out += kHex[u >> 4];
      out += kHex[u & 15];
    } else {
      out += c;
    }
  }
  out += '\'';
}

}  // namespace sluice::lib::detail
