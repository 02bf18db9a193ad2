// SPDX-License-Identifier: Apache-2.0
// Syntax trees of plan text and JSON, before any operator, function or field is looked up.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/status.hpp"

namespace sluice::lib {

struct argument;

/// A stage as written in text.
struct call_syntax {
  std::size_t at = 0;  ///< column
  std::string name;
  std::vector<argument> arguments;
};
using plan_syntax = std::vector<call_syntax>;  ///< calls joined by bars

struct argument {
  enum kind_type {
    null,        ///< in JSON
    word,        ///< in text, also a plan of one call, which `calls` contains; in JSON, true or false
    number,      ///< as it is spelled, without separators
    quoted,      ///< in text
    plan,        ///< in text
    fields,      ///< {name=value, …} in text
    list,        ///< of `items`
    string,      ///< in JSON: a text, a word, or a number with a unit
    object,      ///< in JSON: fields, a function or a plan
    expression,  ///< in text, an argument that can only be an expression: `source`
    numbers,     ///< in JSON: a list of numbers only; `text` has their spelling, separated by commas
  } kind = null;
  std::size_t at = 0;       ///< in text, the value's column; for a JSON object, its number in the document, from 1
  std::size_t name_at = 0;  ///< in text
  std::string name{};       ///< empty: by position
  std::string text{};
  std::string_view source{};      ///< in text: the argument's own text; valid as long as the plan's text
  std::vector<argument> items{};  ///< for a list, fields or an object
  plan_syntax calls{};

  /// For objects. Returns null if no member has this name.
  const argument* find(std::string_view name) const;
  /// For messages: "5", "\"five\"", "an object", "a list", "a plan".
  std::string shown() const;
};

/// Returns the items of a list. If the list stores its numbers as text, the items are placed in `storage`.
const std::vector<argument>& items_of(const argument& list, std::vector<argument>& storage);

/// Returns true for a text: quoted, a JSON string, or a list of numbers that are its bytes.
bool is_text_argument(const argument& a);
/// REQUIRES: is_text_argument(a).
std::string text_of(const argument& a);

/// The error thrown by the functions that read arguments: a message and a position.
struct misplaced {
  std::size_t at;  ///< a column, or a JSON object's number
  std::string what;
  status file_error = {};  ///< the error of a file that is read to build the plan; ok: the argument is wrong
};

}  // namespace sluice::lib
