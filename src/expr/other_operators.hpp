// SPDX-License-Identifier: Apache-2.0
// Messages for operators and forms of other languages: what to write in their place, made from the user's own text.
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::lib::expressions {

/// A word or sign that stands where an operator is expected.
struct misplaced_operator {
  std::string_view text;           ///< the whole expression
  std::size_t begin = 0, end = 0;  ///< the word
  std::size_t operand_begin = 0;   ///< the value before it
  std::size_t operand_end = 0;
};

/// Returns the message for an operator of another language, for a name with blanks, and for a lambda: "there is no
/// operator and; write &&". Empty for other words.
std::string message_of(const misplaced_operator& m);

/// Returns the message for the '?' at byte `at`: "there is no ?: in expressions; write if(id > 1, 1, 0)".
std::string message_of_question_mark(std::string_view text, std::size_t at);
/// Returns the message for the single quote at byte `at`: "texts are written in double quotes: \"Rome\"".
std::string message_of_single_quote(std::string_view text, std::size_t at);
/// Returns the value at the beginning of `text`: count() of "count(), x". Empty: none.
std::string value_at(std::string_view text);
/// Returns the advice for a word that is a column's name.
std::string way_to_column(std::string_view word);

/// Returns "write map(it + 1)" for the body of a lambda with this parameter; `stage`: "map".
std::string without_lambda(std::string_view stage, std::string_view parameter, std::string_view body);

/// Returns true for the binary operators of expressions.
bool is_operator(std::string_view s);
/// Returns the letters around a byte, including letters beyond ASCII.
std::string_view word_around(std::string_view text, std::size_t byte);

}  // namespace sluice::lib::expressions
