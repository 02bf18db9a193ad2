// SPDX-License-Identifier: Apache-2.0
// The words of other languages, and conversions that a message suggests.
#include <span>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "expr/checking/checker.hpp"
#include "expr/checking/type_limits.hpp"

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
    {"coalesce", "write value_or($1, $2)"},
    {"ifnull", "write value_or($1, $2)"},
    {"nvl", "write value_or($1, $2)"},
    {"fillna", "write value_or($1, $2)"},
    {"isnull", "write is_none($1), or $1 == none"},
    {"is_null", "write is_none($1), or $1 == none"},
    {"isna", "write is_none($1), or $1 == none"},
    {"is_not_null", "write $1 != none"},
    {"notnull", "write $1 != none"},
    {"nullif", "write if($1 == $2, none, $1)"},
    {"iif", "write if($1, $2, $3)"},
    {"iff", "write if($1, $2, $3)"},
    {"case", "write if($1, $2, $3)"},
    {"len", "write length($1)"},
    {"size", "write length($1)"},
    {"strlen", "write length($1)"},
    {"count", "length(list) is the number of items, and group_by(key, {n: count()}) counts rows"},
    {"first", "list[0] is the first item, and group_by(key, {x: first(x)}) takes the first of each group"},
    {"avg", "write mean($1)"},
    {"average", "write mean($1)"},
    {"concat_ws", "write join($2, $1)"},
    {"substr", "write text[from:to], from 0"},
    {"substring", "write text[from:to], from 0"},
    {"left", "write $1[:$2]"},
    {"right", "write $1[-$2:]"},
    {"toupper", "write upper($1)"},
    {"tolower", "write lower($1)"},
    {"strip", "write trim($1)"},
    {"startswith", "write starts_with($1, $2)"},
    {"endswith", "write ends_with($1, $2)"},
    {"like", "write contains($1, $2), starts_with() or ends_with()"},
    {"matches", "write contains($1, $2), starts_with() or ends_with()"},
    {"regexp", "write contains($1, $2), starts_with() or ends_with()"},
    {"instr", "write find($1, $2), which is -1 if the part is missing"},
    {"not", "write !($1)"},
    {"and", "write $1 && $2"},
    {"or", "write $1 || $2"},
    {"in", "write contains([1, 2, 3], x)"},
    {"power", "write pow($1, $2)"},
    {"ln", "write log($1)"},
    {"mod", "write $1 % $2, or fmod($1, $2)"},
    {"isnan", "write is_nan($1)"},
    {"to_string", "write string($1)"},
    {"tostring", "write string($1)"},
    {"to_int", "write to_integer($1) for a text, int64($1) for a number"},
    {"to_float", "write to_number($1) for a text, double($1) for a number"},
    {"rand", "write random()"},
    {"print", "`sluice run` prints the elements with --output jsonl"}};

/// Returns the advice with the call's arguments in place of $1, $2 and $3.
std::string with_arguments(std::string advice, const expression_tree& call) {
  static constexpr std::string_view kOthers[] = {"x", "y", "z"};
  for (std::size_t k = 0; k != std::size(kOthers); ++k) {
    const std::string value = k < call.parts.size() ? shown(call.parts[k]) : std::string(kOthers[k]);
    const char place[] = {'$', static_cast<char>('1' + k), '\0'};
    advice = absl::StrReplaceAll(advice, {{place, value}});
  }
  return advice;
}

std::string instead_of(std::string_view word, std::span<const other_word> all) {
  for (const other_word& o : all)
    if (absl::EqualsIgnoreCase(absl::string_view(word.data(), word.size()),
                               absl::string_view(o.word.data(), o.word.size())))
      return absl::StrCat("; ", std::string(o.instead));
  return {};
}

}  // namespace

std::string way_to_name(std::string_view name) { return instead_of(name, kNames); }
std::string way_to_function(const expression_tree& call) {
  return with_arguments(instead_of(call.text, kFunctions), call);
}

std::string way_to_condition(const std::string& written, const element_type& type) {
  const number n = number_of(type);
  const bool is_simple = written.find_first_of(" |&<>=+-*/%") == written.npos;
  const std::string value = is_simple ? written : absl::StrCat("(", written, ")");
  if (type.kind == kind::maybe) return absl::StrCat("; test it, as in ", value, " != none");
  if (n != number::none && n != number::boolean) return absl::StrCat("; compare it, as in ", value, " != 0");
  if (type.kind == kind::text) return absl::StrCat("; compare it, as in ", value, " != \"\"");
  if (type.kind == kind::list || type.kind == kind::array) return absl::StrCat("; write length(", written, ") > 0");
  return {};
}

std::string way_to_argument(std::string_view function, std::string_view expected, const std::string& written,
                            const element_type& type) {
  const number n = number_of(type);
  const bool is_number = n != number::none && n != number::boolean;
  const bool wants_number = expected.starts_with("a number") || expected.starts_with("an integer");
  const bool aggregates = function == "sum" || function == "mean" || function == "min" || function == "max";
  if (aggregates && is_number && expected.starts_with("a list of numbers"))
    return absl::StrCat("; over all rows it is group_by(true, {x: ", std::string(function), "(", written, ")})");
  if (is_number && expected.starts_with("a text")) return absl::StrCat("; string(", written, ") makes a text of it");
  if (type.kind != kind::text || !wants_number) return {};
  const bool is_whole =
      expected.starts_with("an integer") || function.starts_with("int") || function.starts_with("uint");
  return absl::StrCat("; ", is_whole ? "to_integer(" : "to_number(", written, ") reads the text as a number");
}

}  // namespace sluice::lib::expressions
