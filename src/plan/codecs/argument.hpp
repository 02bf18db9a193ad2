// SPDX-License-Identifier: Apache-2.0
// What plan text and JSON both become before any operator, function or field is looked up.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib {

struct argument;

/// A stage as text writes it.
struct call_syntax {
  std::size_t at = 0;  ///< column
  std::string name;
  std::vector<argument> arguments;
};
using plan_syntax = std::vector<call_syntax>;  ///< calls joined by bars

struct argument {
  enum kind_type {
    null,        ///< JSON's
    word,        ///< in text also a plan of one call, which `calls` has; in JSON true or false
    number,      ///< as it is spelled, without separators
    quoted,      ///< in text
    plan,        ///< in text
    fields,      ///< {name=value, …} in text
    list,        ///< of `items`
    string,      ///< in JSON: a text, a word, or a number with a unit
    object,      ///< in JSON: fields, a function or a plan
    expression,  ///< in text what only an expression can be: `source`
    numbers,     ///< in JSON: a list that has numbers only; `text` is their spelling with commas in between
  } kind = null;
  std::size_t at = 0;       ///< in text the column of the value; of a JSON object its number in the document, from 1
  std::size_t name_at = 0;  ///< in text
  std::string name{};       ///< empty: by position
  std::string text{};
  std::string_view source{};      ///< in text: what is written there, which lives as long as the plan's text
  std::vector<argument> items{};  ///< of a list, of fields, of an object
  plan_syntax calls{};

  /// Of an object; null: it has none of this name.
  const argument* find(std::string_view name) const;
  /// For messages: "5", "\"five\"", "an object", "a list", "a plan".
  std::string shown() const;
};

/// The items of a list; `storage` is where they are kept when the list has its numbers as text.
const std::vector<argument>& items_of(const argument& list, std::vector<argument>& storage);

/// Is this a text: quoted, a JSON string, or its bytes as a list of numbers?
bool is_text_argument(const argument& a);
/// REQUIRES: is_text_argument(a).
std::string text_of(const argument& a);

/// Thrown by what reads arguments: what is wrong, and where.
struct misplaced {
  std::size_t at;  ///< a column, or a JSON object's number
  std::string what;
};

}  // namespace sluice::lib
