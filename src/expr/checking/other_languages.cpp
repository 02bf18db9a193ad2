// SPDX-License-Identifier: Apache-2.0
// The words of other languages, and conversions that a message suggests.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "expr/checking/checker.hpp"
#include "expr/checking/type_limits.hpp"
#include "expr/other_operators.hpp"

namespace sluice::lib::expressions {
namespace {

struct other_word {
  std::string_view word, instead;
};
constexpr other_word kNames[] = {{"null", "write none for a missing value"},
                                 {"nil", "write none for a missing value"},
                                 {"none", "write none for a missing value"},
                                 {"na", "write none for a missing value"},
                                 {"undefined", "write none for a missing value"},
                                 {"true", "write true or false for a bool"},
                                 {"false", "write true or false for a bool"},
                                 {"nan", "is_nan(x) tests for it"},
                                 {"self", "the element is `it`"},
                                 {"this", "the element is `it`"},
                                 {"value", "the element is `it`"},
                                 {"row", "the element is `it`"},
                                 {"x", "the element is `it`"}};
constexpr std::string_view kNoClock =
    "expressions have no clock: a plan yields the same elements in every run; the shell can write the time into a "
    "plan: map({time: \"'$(date -Is)'\"})";
constexpr std::string_view kNoDates =
    "dates are texts: write $1; texts such as 2026-01-31 compare in their order, as in $1 >= \"2026-01-01\", and "
    "$1[:4] is the year";
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
    {"square", "write pow($1, 2)"},
    {"concat_ws", "write join($2, $1)"},
    {"str_replace", "write replace($1, $2, $3)"},
    {"gsub", "write replace($1, $2, $3)"},
    {"left", "write $1[:$2]"},
    {"right", "write $1[-$2:]"},
    {"toupper", "write upper($1)"},
    {"tolower", "write lower($1)"},
    {"touppercase", "write upper($1)"},
    {"tolowercase", "write lower($1)"},
    {"strip", "write trim($1)"},
    {"includes", "write contains($1, $2)"},
    {"indexof", "write find($1, $2), which is -1 if the part is missing"},
    {"startswith", "write starts_with($1, $2)"},
    {"endswith", "write ends_with($1, $2)"},
    {"like", "write contains($1, $2), starts_with() or ends_with()"},
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
    {"now", kNoClock},
    {"today", kNoClock},
    {"current_timestamp", kNoClock},
    {"date", kNoDates},
    {"to_date", kNoDates},
    {"todate", kNoDates},
    {"parse_date", kNoDates},
    {"datetime", kNoDates},
    {"to_datetime", kNoDates},
    {"timestamp", kNoDates},
    {"to_timestamp", kNoDates},
    {"strptime", kNoDates},
    {"strftime", kNoDates},
    {"date_format", kNoDates},
    {"date_trunc", kNoDates},
    {"datediff", kNoDates},
    {"date_diff", kNoDates},
    {"dateadd", kNoDates},
    {"date_add", kNoDates},
    {"year", "write to_integer($1[:4]) for a text such as 2026-01-31"},
    {"month", "write to_integer($1[5:7]) for a text such as 2026-01-31"},
    {"day", "write to_integer($1[8:10]) for a text such as 2026-01-31"},
    {"hour", "write to_integer($1[11:13]) for a text such as 2026-01-31T12:30:00"},
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

bool is_same_word(std::string_view one, std::string_view other) {
  return absl::EqualsIgnoreCase(absl::string_view(one.data(), one.size()),
                                absl::string_view(other.data(), other.size()));
}

std::string instead_of(std::string_view word, std::span<const other_word> all) {
  for (const other_word& o : all)
    if (is_same_word(word, o.word)) return absl::StrCat("; ", std::string(o.instead));
  return {};
}

/// Returns the whole number of an expression that is a literal, from 0 to 1000; -1: it is another expression.
int small_number(const expression_tree& e) {
  const bool is_whole = e.kind == expression_tree::number && e.text.find_first_not_of("0123456789") == e.text.npos;
  return is_whole && !e.text.empty() && e.text.size() <= 3 ? std::stoi(e.text) : -1;
}

/// substr(city, 1) and substr(city, 1, 3) of SQL, with a position from 1 and a length.
std::string instead_of_substring(const expression_tree& call) {
  if (call.parts.size() < 2) return "; write text[from:to], where the first byte has number 0";
  const int position = small_number(call.parts[1]), size = call.parts.size() > 2 ? small_number(call.parts[2]) : -1;
  const int from = std::max(position - 1, 0);
  const std::string begin = position >= 0 ? absl::StrCat(from) : absl::StrCat(shown(call.parts[1]), " - 1");
  std::string end = call.parts.size() > 2 ? absl::StrCat(begin, " + ", shown(call.parts[2])) : std::string();
  if (position >= 0 && size >= 0) end = absl::StrCat(from + size);
  return absl::StrCat("; write ", shown(call.parts[0]), "[", begin, ":", end,
                      "]: bytes are counted from 0; SQL counts characters from 1");
}

/// round(score, 1): "round(score * 10) / 10.0".
std::string rounded_to_digits(const expression_tree& call) {
  constexpr int kDigitsMax = 9;
  const std::string value = shown(call.parts[0]);
  const bool is_simple = value.find(' ') == value.npos;
  const std::string of = is_simple ? value : absl::StrCat("(", value, ")");
  const int digits = small_number(call.parts[1]);
  if (digits == 0) return absl::StrCat(call.text, "(", value, ")");
  const std::string factor = digits > 0 && digits <= kDigitsMax
                                 ? absl::StrCat("1", std::string(static_cast<std::size_t>(digits), '0'))
                                 : absl::StrCat("pow(10, ", shown(call.parts[1]), ")");
  return absl::StrCat(call.text, "(", of, " * ", factor, ") / ", factor);
}

/// Returns true if the expression can be written here.
bool is_valid(checker& check, const std::string& text) {
  try {
    check.make(read_expression(text, 1));
  } catch (const expression_error&) { return false; }
  return true;
}

/// Returns "id + value_or(score, 0)" for sum(id, score).
std::string added_values(checker& check, const expression_tree& call) {
  std::string out;
  for (const expression_tree& part : call.parts) {
    const std::string value = shown(part);
    const bool is_optional = check.make(part)->type().kind == kind::maybe;
    absl::StrAppend(&out, out.empty() ? "" : " + ", is_optional ? absl::StrCat("value_or(", value, ", 0)") : value);
  }
  return out;
}

}  // namespace

std::string way_to_fewer(checker& check, const expression_tree& call, const std::vector<computed_ptr>& parts) {
  const std::string& name = call.text;
  const bool rounds = name == "round" || name == "floor" || name == "ceil" || name == "trunc";
  if (rounds && parts.size() == 2) return absl::StrCat("; write ", rounded_to_digits(call));
  if (name == "log" && parts.size() == 2)
    return absl::StrCat("; write log(", shown(call.parts[0]), ") / log(", shown(call.parts[1]), ")");
  const bool takes_list = name == "sum" || name == "mean" || name == "max_of" || name == "min_of" || name == "concat" ||
                          name == "stack" || name == "any" || name == "all" || name == "argmax";
  if (!takes_list || parts.size() < 2) return {};
  auto is_text = [](const computed_ptr& c) { return c->type().kind == kind::text; };
  auto is_value = [&](const computed_ptr& c) { return is_text(c) || number_of(c->type()) != number::none; };
  const bool joins = name == "concat" && std::ranges::any_of(parts, is_text) && std::ranges::all_of(parts, is_value);
  std::string all;
  for (std::size_t k = 0; k != parts.size(); ++k) {
    const std::string value = shown(call.parts[k]);
    absl::StrAppend(&all,
                    k == 0  ? ""
                    : joins ? " + "
                            : ", ",
                    joins && !is_text(parts[k]) ? absl::StrCat("string(", value, ")") : value);
  }
  if (joins) return absl::StrCat("; texts are joined by +: ", all);
  const std::string listed = absl::StrCat(name, "([", all, "])"),
                    added = name == "sum" ? added_values(check, call) : "";
  for (const std::string& suggestion : {listed, added})
    if (!suggestion.empty() && is_valid(check, suggestion)) return absl::StrCat("; write ", suggestion);
  return absl::StrCat("; ", name, "([x, y]) takes a list of values of one type");
}

std::string way_to_name(std::string_view name) { return instead_of(name, kNames); }
std::string way_to_function(const expression_tree& call) {
  for (std::string_view word : {"matches", "match", "regexp", "regex", "regexp_matches", "regexp_like", "rlike"})
    if (is_same_word(call.text, word) && call.parts.size() == 2)
      return absl::StrCat("; ", way_to_pattern(shown(call.parts[0]), shown(call.parts[1])));
  if (is_same_word(call.text, "substr") || is_same_word(call.text, "substring")) return instead_of_substring(call);
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

std::string way_over_rows(std::string_view function, std::string_view expected, const std::string& column) {
  const bool aggregates = function == "sum" || function == "mean" || function == "min" || function == "max";
  if (!aggregates || !expected.starts_with("a list of numbers")) return {};
  return absl::StrCat("; over all rows it is group_by(true, {x: ", std::string(function), "(", column, ")})");
}

std::string way_to_argument(std::string_view function, std::string_view expected, const std::string& written,
                            const element_type& type) {
  const number n = number_of(type);
  const bool is_number = n != number::none && n != number::boolean;
  const bool wants_number = expected.starts_with("a number") || expected.starts_with("an integer");
  if (std::string way = is_number ? way_over_rows(function, expected, written) : ""; !way.empty()) return way;
  if (is_number && expected.starts_with("a text") && function.starts_with("to_"))
    return absl::StrCat("; it is a number already: leave ", std::string(function), " out");
  if (is_number && expected.starts_with("a text")) return absl::StrCat("; string(", written, ") makes a text of it");
  if (type.kind != kind::text || !wants_number) return {};
  const bool is_whole =
      expected.starts_with("an integer") || function.starts_with("int") || function.starts_with("uint");
  return absl::StrCat("; ", is_whole ? "to_integer(" : "to_number(", written, ") reads the text as a number");
}

}  // namespace sluice::lib::expressions
