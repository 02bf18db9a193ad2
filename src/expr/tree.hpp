// SPDX-License-Identifier: Apache-2.0
// The syntax tree of an expression before its types are known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/expr/expression.hpp"

namespace sluice::lib {

struct expression_tree {
  enum kind_type : std::uint8_t {
    number,   ///< `text`, as canonical_number() spells it
    text_,    ///< `text`, without quotes and escapes
    boolean,  ///< `text` is true or false
    name,     ///< it, a field, or a variable
    member,   ///< parts[0].`text`
    index,    ///< parts[0][parts[1]]
    slice,    ///< parts[0][parts[1]:parts[2]]; a missing bound is `absent`
    absent,
    call,       ///< text(parts); with `names`, of which those of arguments by position are empty
    let,        ///< let(text = parts[0], parts[1])
    unary,      ///< `text` is - or !
    binary,     ///< `text` is an operator
    tuple,      ///< (parts), at least two
    list,       ///< [parts], at least one
    structure,  ///< {names: parts}, at least one
  } kind = name;
  std::size_t at = 1;  ///< the column where it begins
  std::string text{};
  std::vector<expression_tree> parts{};
  std::vector<std::string> names{};
};

/// Returns the precedence of an operator: || 1, && 2, comparisons 3, + and - 4, * / and % 5.
int precedence_of(std::string_view op);

namespace expressions {

/// Errors: expression_error.
expression_tree read_expression(std::string_view text, std::size_t column);
/// Returns true if a name can be written without backticks, as far as its characters are concerned.
bool is_plain_word(std::string_view s);
/// Prints with the fewest parentheses possible.
void print_expression(const expression_tree& e, std::string& out);
std::string printed(const expression_tree& e);
/// Returns the canonical spelling of a number: decimal, without needless digits. Returns other texts unchanged.
std::string canonical_number(std::string_view spelled);

}  // namespace expressions

}  // namespace sluice::lib
