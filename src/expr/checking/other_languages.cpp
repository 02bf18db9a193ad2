// SPDX-License-Identifier: Apache-2.0
// The words of other languages, for messages.
#include <span>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "expr/checking/checker.hpp"

namespace sluice::lib::expressions {
namespace {

struct other_word {
  std::string_view word, instead;
};
constexpr other_word kNames[] = {{"null", "a missing value is none"},
                                 {"nil", "a missing value is none"},
                                 {"none", "a missing value is none"},
                                 {"na", "a missing value is none"},
                                 {"undefined", "a missing value is none"},
                                 {"true", "the bools are true and false"},
                                 {"false", "the bools are true and false"},
                                 {"nan", "is_nan(x) tests for it"},
                                 {"self", "the element is `it`"},
                                 {"this", "the element is `it`"},
                                 {"value", "the element is `it`"},
                                 {"row", "the element is `it`"},
                                 {"x", "the element is `it`"}};
constexpr other_word kFunctions[] = {
    {"coalesce", "write value_or(x, otherwise)"},
    {"ifnull", "write value_or(x, otherwise)"},
    {"nvl", "write value_or(x, otherwise)"},
    {"fillna", "write value_or(x, otherwise)"},
    {"isnull", "write is_none(x), or x == none"},
    {"is_null", "write is_none(x), or x == none"},
    {"isna", "write is_none(x), or x == none"},
    {"is_not_null", "write x != none"},
    {"notnull", "write x != none"},
    {"nullif", "write if(x == y, none, x)"},
    {"iif", "write if(condition, a, b)"},
    {"iff", "write if(condition, a, b)"},
    {"case", "write if(condition, a, b)"},
    {"len", "write length(x)"},
    {"size", "write length(x)"},
    {"strlen", "write length(x)"},
    {"count", "length(list) is the number of items, and group_by(key, {n: count()}) counts rows"},
    {"first", "list[0] is the first item, and group_by(key, {x: first(x)}) takes the first of each group"},
    {"avg", "write mean(list)"},
    {"average", "write mean(list)"},
    {"concat_ws", "write join(list, separator)"},
    {"substr", "write text[from:to], from 0"},
    {"substring", "write text[from:to], from 0"},
    {"left", "write text[:n]"},
    {"right", "write text[-n:]"},
    {"toupper", "write upper(text)"},
    {"tolower", "write lower(text)"},
    {"strip", "write trim(text)"},
    {"startswith", "write starts_with(text, part)"},
    {"endswith", "write ends_with(text, part)"},
    {"like", "write contains(text, part), starts_with() or ends_with()"},
    {"matches", "write contains(text, part), starts_with() or ends_with()"},
    {"regexp", "write contains(text, part), starts_with() or ends_with()"},
    {"instr", "write find(text, part), which is -1 if the part is missing"},
    {"not", "write !x"},
    {"and", "write a && b"},
    {"or", "write a || b"},
    {"in", "write contains([1, 2, 3], x)"},
    {"power", "write pow(x, y)"},
    {"ln", "write log(x)"},
    {"mod", "write a % b, or fmod(a, b)"},
    {"isnan", "write is_nan(x)"},
    {"to_string", "write string(x)"},
    {"tostring", "write string(x)"},
    {"to_int", "write to_integer(text), or int64(number)"},
    {"to_float", "write to_number(text), or double(number)"},
    {"rand", "write random()"},
    {"print", "`sluice run` prints the elements with --output jsonl"}};

std::string instead_of(std::string_view word, std::span<const other_word> all) {
  for (const other_word& o : all)
    if (absl::EqualsIgnoreCase(absl::string_view(word.data(), word.size()),
                               absl::string_view(o.word.data(), o.word.size())))
      return absl::StrCat("; ", std::string(o.instead));
  return {};
}

}  // namespace

std::string way_to_name(std::string_view name) { return instead_of(name, kNames); }
std::string way_to_function(std::string_view function) { return instead_of(function, kFunctions); }

}  // namespace sluice::lib::expressions
