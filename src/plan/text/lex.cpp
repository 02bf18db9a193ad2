// SPDX-License-Identifier: Apache-2.0
#include "plan/text/lex.hpp"

#include <algorithm>

#include "sluice/base/utf8.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::detail {

namespace {

constexpr std::size_t kShownWordMax = 60;  ///< bytes of a word that a message repeats

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

std::string token::found() const {
  switch (kind) {
    case end: return "and the text ends";
    case string: return "and found a text in quotes";
    default: return "and found '" + text + "'";
  }
}

std::size_t lexer::after_space(std::size_t i) const {
  for (;;) {
    while (i < text_.size() && is_space(text_[i])) ++i;
    if (at(i) != '#') return i;
    while (i < text_.size() && text_[i] != '\n') ++i;
  }
}

/// Returns the column of the character that begins at byte `at`. A byte that continues a character is not counted.
std::size_t lexer::column_of(std::size_t at) {
  if (at < counted_) counted_ = characters_ = 0;
  for (; counted_ != at; ++counted_) characters_ += (static_cast<unsigned char>(text_[counted_]) & 0xC0) != 0x80;
  return characters_ + 1;
}

void lexer::refuse_character() {
  std::string_view rest = text_.substr(now_.from);
  std::size_t column = now_.column;
  if (rest.starts_with("<lambda>"))
    throw plan_error(column, "a lambda cannot be written down; name the function with SLUICE_FUNCTION");
  auto bytes = utf8_length(rest);
  auto c = static_cast<unsigned char>(rest[0]);
  const std::size_t word = c == '.' ? 1 + std::min(rest.substr(1).find_first_of(" (|\n"), rest.size() - 1) : 0;
  if (word > 1 && word <= kShownWordMax)
    throw plan_error(column, "stages are separated by |: write | " + std::string(rest.substr(1, word - 1)) +
                                 " in place of " + std::string(rest.substr(0, word)));
  if (bytes != 0 && c >= 0x20 && c != 0x7F)
    throw plan_error(column, "no plan has the character '" + std::string(rest.substr(0, bytes)) + "' here" +
                                 (c == '>' || c == '.' || c == ';' ? "; stages are separated by |"
                                  : c == '-'                       ? "; arguments stand in parentheses, as in take(2)"
                                                                   : ""));
  constexpr char kHex[] = "0123456789abcdef";
  throw plan_error(column, std::string("no plan has the byte 0x") + kHex[c >> 4] + kHex[c & 15] + " here");
}

void lexer::go_to(std::size_t at) {
  at_ = at;
  advance();
}

void lexer::advance() {
  end_of_last_ = at_;
  at_ = after_space(at_);
  now_ = {token::end, at_, column_of(at_), {}};
  if (at_ == text_.size()) return;
  char c = text_[at_];
  if (starts_word(c)) return read_word();
  if (c == '"') return read_string();
  if (is_digit(c) || ((c == '-' || c == '+') && is_digit(at(at_ + 1)))) return read_number();
  bool is_known = std::string_view("|(),=[]{}").find(c) != std::string_view::npos;
  now_.kind = is_known ? token::sign : token::unknown;
  now_.text = c;
  ++at_;
}

void lexer::read_word() {
  auto from = at_;
  while (continues_word(at(at_))) ++at_;
  now_.kind = token::word;
  now_.text = text_.substr(from, at_ - from);
}

// Reads a number with the characters attached to it: 1e-3, 64MiB, 10'000. The field's codec decides whether it is
// valid.
void lexer::read_number() {
  now_.kind = token::number;
  if (at(at_) == '+') ++at_;
  do {
    if (at(at_) != '\'') now_.text += at(at_);
    ++at_;
    bool is_exponent_sign = (at(at_) == '-' || at(at_) == '+') && (at(at_ - 1) == 'e' || at(at_ - 1) == 'E');
    if (!is_exponent_sign && !continues_word(at(at_)) && !(at(at_) == '\'' && is_digit(at(at_ + 1)))) return;
  } while (at_ < text_.size());
}

void lexer::read_string() {
  now_.kind = token::string;
  auto quote = at_++;
  for (; at_ < text_.size(); ++at_) {
    char c = text_[at_];
    if (c == '"') {
      ++at_;
      return;
    }
    now_.text += c == '\\' ? read_escape(quote) : c;
  }
  fail_unclosed(quote);
}

void lexer::fail_unclosed(std::size_t quote) {
  constexpr std::size_t kShownMax = 60;
  const std::string_view rest = text_.substr(quote + 1);
  std::string_view meant = rest.substr(0, rest.find_first_of(",)|\n"));
  while (meant.ends_with(' ')) meant.remove_suffix(1);
  const bool is_shown =
      !meant.empty() && meant.size() <= kShownMax && meant.find(' ') == meant.npos && meant.find('\\') == meant.npos;
  throw plan_error(column_of(quote), "this text is not closed by '\"'" +
                                         (is_shown ? ": write \"" + std::string(meant) + "\"" : std::string()));
}

char lexer::read_escape(std::size_t quote) {
  auto backslash = at_++;
  switch (char c = at(at_)) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case '"':
    case '\\': return c;
    case 'x': {
      int high = hex_digit(at(at_ + 1)), low = hex_digit(at(at_ + 2));
      if (high < 0 || low < 0) break;
      at_ += 2;
      return static_cast<char>(high * 16 + low);
    }
    default: break;
  }
  if (at_ >= text_.size()) fail_unclosed(quote);
  throw plan_error(column_of(backslash), "no such escape; there are \\\" \\\\ \\n \\t \\r and \\xHH");
}

}  // namespace sluice::lib::detail
