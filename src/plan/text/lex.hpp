// SPDX-License-Identifier: Apache-2.0
// Splits plan text into tokens.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/text/ascii.hpp"

namespace sluice::lib::detail {

/// Words of plans have dots.
constexpr bool continues_word(char c) { return starts_word(c) || is_digit(c) || c == '.'; }

struct token {
  enum kind_type { end, word, number, string, sign, unknown } kind = end;
  std::size_t from = 0;    ///< the byte where it starts
  std::size_t column = 1;  ///< where it starts, in characters, counted from 1
  std::string text;        ///< for a string, without quotes and escapes; for a number, without separators

  bool is(char c) const { return kind == sign && text[0] == c; }
  /// For messages: "and the text ends", "and found ','".
  std::string found() const;
};

class lexer {
 public:
  explicit lexer(std::string_view text) : text_(text) { advance(); }
  const token& now() const noexcept { return now_; }
  /// Errors: plan_error: a string that is not closed, an unknown escape. An unknown character becomes a token
  ///         `unknown`, because an expression may begin with it.
  void advance();
  /// Continues at a byte after the current token.
  void go_to(std::size_t at);
  /// Returns the end of the text that was read before now().
  std::size_t end_of_last() const noexcept { return end_of_last_; }
  /// Reports an `unknown` token. Errors: always plan_error.
  [[noreturn]] void refuse_character();
  bool next_is(char c) const { return at(after_space(at_)) == c; }
  /// Returns true if now() is the name of an argument: `name=`, but not `name == `.
  bool is_name_of_next() const { return next_is('=') && at(after_space(at_) + 1) != '='; }

  /// Reports a text that begins at `quote` and has no second one, with the place where that probably is missing.
  [[noreturn]] void fail_unclosed(std::size_t quote);

 private:
  std::size_t column_of(std::size_t at);
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  /// Returns the first byte at or after `i` that is neither white space nor part of a comment.
  std::size_t after_space(std::size_t i) const;
  void read_word();
  void read_number();
  void read_string();
  char read_escape(std::size_t quote);

  std::string_view text_;
  std::size_t at_ = 0, end_of_last_ = 0;
  /// `characters_` characters begin in the first `counted_` bytes; column_of resumes there.
  std::size_t counted_ = 0, characters_ = 0;
  token now_;
};

}  // namespace sluice::lib::detail
