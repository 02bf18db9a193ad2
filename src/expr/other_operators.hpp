// SPDX-License-Identifier: Apache-2.0
// Messages for operators and forms of other languages: what to write in their place, made from the user's own text.
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "expr/tree.hpp"

namespace sluice::lib::expressions {

/// A word or sign that stands where an operator is expected.
struct misplaced_operator {
  std::string_view text;           ///< the whole expression
  std::size_t begin = 0, end = 0;  ///< the word
  std::size_t operand_begin = 0;   ///< the value before it
  std::size_t operand_end = 0;
};

struct operator_message {
  std::string text;
  std::size_t at = 0;  ///< the byte where the operator begins
};
/// Returns the message for an operator of another language, for a name with blanks, and for a lambda: "there is no
/// operator and; write &&". Its text is empty for other words.
operator_message message_of(const misplaced_operator& m);

/// Returns the message for a call that is written like a method, with its value as the first argument: "there are no
/// methods; write upper(city)".
std::string message_of_method(const expression_tree& call);

/// Returns the message for the character at byte `at`, which no expression has outside of texts: "there is no ?: in
/// expressions; write if(id > 1, 1, 0)", "texts are written in double quotes: \"Rome\"".
std::string message_of_character(std::string_view text, std::size_t at);
/// Returns the value at the beginning of `text`: count() of "count(), x". Empty: none.
std::string value_at(std::string_view text);

/// Returns the text up to the next comma or closing bracket: "id + 1" of "id + 1, city". Too long: "…".
std::string item_at(std::string_view text);
/// Returns the message for {upper(city)} and {x = id}; `text` begins with the call, or after the =.
std::string message_of_field(const std::string& name, std::string_view text);
/// Returns the message for a test by a regular expression: "there are no regular expressions; write starts_with(…)".
/// `pattern`: with its quotes.
std::string way_to_pattern(const std::string& value, const std::string& pattern);

/// Returns "none" for a missing value of another language, such as NULL, and other texts unchanged.
std::string none_or(std::string_view value);

/// Returns "write map(it + 1)" for the body of a lambda with this parameter; `stage`: "map".
std::string without_lambda(std::string_view stage, std::string_view parameter, std::string_view body);

/// Returns true for the binary operators of expressions.
bool is_operator(std::string_view s);

}  // namespace sluice::lib::expressions
