// SPDX-License-Identifier: Apache-2.0
#include "expr/other_operators.hpp"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text/ascii.hpp"
#include "base/text/closest.hpp"
#include "base/text/typographic.hpp"
#include "expr/checking/checker.hpp"
#include "sluice/base/utf8.hpp"

namespace sluice::lib::expressions {
namespace {

constexpr std::size_t kPartMax = 80;  // bytes of a part of the expression in a message
constexpr std::size_t kMessageMax = 300;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool in_name(char c) { return detail::starts_word(c) || detail::is_digit(c); }
bool is_word(std::string_view word, std::string_view other) {
  return absl::EqualsIgnoreCase(absl::string_view(word.data(), word.size()),
                                absl::string_view(other.data(), other.size()));
}

std::string_view without_blanks(std::string_view s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}

/// Returns the word at the beginning; empty if none begins there.
std::string_view first_word(std::string_view s) {
  std::size_t n = 0;
  while (n != s.size() && in_name(s[n])) ++n;
  return s.substr(0, n);
}

/// Returns the number of bytes before the first of `ends` that stands outside brackets and quotes, or before a bracket
/// that closes one opened earlier.
std::size_t length_up_to(std::string_view s, std::string_view ends) {
  int depth = 0;
  char quote = '\0';
  for (std::size_t i = 0; i != s.size(); ++i) {
    const char c = s[i];
    if (quote != '\0') {
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'' || c == '`') {
      quote = c;
    } else if (depth == 0 && (ends.find(c) != ends.npos || c == ')' || c == ']' || c == '}')) {
      return i;
    } else {
      depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    }
  }
  return s.size();
}

/// Returns the value at the beginning: a text, a group in brackets, a number or a name with its call. Empty: none.
std::string first_value(std::string_view s) {
  s = without_blanks(s);
  if (s.empty()) return {};
  if (s[0] == '"' || s[0] == '\'') {
    const std::size_t end = s.find(s[0], 1);
    return end == s.npos ? std::string() : absl::StrCat("\"", std::string(s.substr(1, end - 1)), "\"");
  }
  std::size_t n = s[0] == '-' ? 1 : 0;
  while (n != s.size() && (in_name(s[n]) || s[n] == '.')) ++n;
  if (n != s.size() && (s[n] == '(' || s[n] == '[') && s[0] != '-') {
    const std::size_t inside = length_up_to(s.substr(n + 1), "");
    if (n + 1 + inside == s.size()) return {};
    n += inside + 2;
  }
  return std::string(s.substr(0, n));
}

/// Returns the expression before byte `end`, if that is a whole one; else the value that ends there.
std::string_view value_before(std::string_view text, std::size_t end, std::string_view otherwise) {
  const std::string_view whole = without_blanks(text.substr(0, end));
  return length_up_to(whole, ",:=?") == whole.size() && !whole.empty() && whole[0] != '{' ? whole : otherwise;
}

/// The value before a place: the part of the innermost bracket since its last comma or colon.
struct part_before {
  std::string_view text;
  char bracket = '\0';  ///< that contains it; '\0': none
};
/// `is_side`: also begin after the last && or ||.
part_before part_up_to(std::string_view text, std::size_t end, bool is_side) {
  std::string brackets;
  std::vector<std::size_t> begins{0};
  char quote = '\0';
  for (std::size_t i = 0; i != end; ++i) {
    const char c = text[i];
    const bool is_joined = is_side && (text.substr(i, 2) == "&&" || text.substr(i, 2) == "||");
    if (quote != '\0') {
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'' || c == '`') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      brackets += c;
      begins.push_back(i + 1);
    } else if ((c == ')' || c == ']' || c == '}') && !brackets.empty()) {
      brackets.pop_back();
      begins.pop_back();
    } else if (c == ',' || c == ':' || is_joined) {
      begins.back() = i + 1 + is_joined;
    }
  }
  return {without_blanks(text.substr(begins.back(), end - begins.back())), brackets.empty() ? '\0' : brackets.back()};
}

/// Returns the value after a comparison: the text up to the next && or ||, comma or closing bracket.
std::string_view side_after(std::string_view rest) {
  rest = rest.substr(0, length_up_to(rest, ","));
  return without_blanks(rest.substr(0, length_up_to(rest, "&|")));
}

/// Returns what replaces a test by a regular expression: "starts_with(city, \"R\")" for "R.*".
std::string instead_of_pattern(const std::string& value, std::string pattern) {
  constexpr std::string_view kOthers = "contains(), starts_with() and ends_with() test a text";
  if (pattern.size() < 2 || pattern[0] != '"') return std::string(kOthers);
  pattern = pattern.substr(1, pattern.size() - 2);
  auto take_end = [&](std::string_view end) {
    if (!pattern.ends_with(end)) return false;
    pattern.resize(pattern.size() - end.size());
    return true;
  };
  bool is_open_left = pattern.starts_with(".*"), is_begin = pattern.starts_with('^');
  pattern = pattern.substr(is_open_left ? 2 : is_begin ? 1 : 0);
  const bool is_open_right = take_end(".*"), is_end = take_end("$");
  is_begin |= is_open_right && !is_open_left;
  if (pattern.empty() || pattern.find_first_of(".*+?^$\\()[]{}|") != pattern.npos) return std::string(kOthers);
  const std::string arguments = absl::StrCat("(", value, ", \"", pattern, "\")");
  if (is_begin && is_end) return absl::StrCat("write ", value, " == \"", pattern, "\"");
  return absl::StrCat("write ", is_begin ? "starts_with" : is_end ? "ends_with" : "contains", arguments);
}

/// Returns "starts_with(city, \"R\")" for city like "R%".
std::string instead_of_like(const std::string& value, std::string pattern, bool ignores_case) {
  const std::string of = ignores_case ? absl::StrCat("lower(", value, ")") : value;
  if (pattern.size() < 2 || pattern[0] != '"')
    return absl::StrCat("contains(", of, ", \"text\"), starts_with() or ends_with()");
  pattern = pattern.substr(1, pattern.size() - 2);
  const bool is_open_left = pattern.starts_with('%'), is_open_right = pattern.size() > 1 && pattern.ends_with('%');
  std::string part = pattern.substr(is_open_left ? 1 : 0);
  if (is_open_right) part.pop_back();
  part = absl::StrCat("\"", part, "\"");
  if (is_open_left && is_open_right) return absl::StrCat("contains(", of, ", ", part, ")");
  if (is_open_left) return absl::StrCat("ends_with(", of, ", ", part, ")");
  if (is_open_right) return absl::StrCat("starts_with(", of, ", ", part, ")");
  return absl::StrCat(of, " == ", part);
}

std::string instead_of_in(const std::string& value, std::string list) {
  if (list.size() < 2 || (list[0] != '[' && list[0] != '(')) return absl::StrCat("contains(LIST, ", value, ")");
  list.front() = '[';
  list.back() = ']';
  std::replace(list.begin(), list.end(), '\'', '"');
  return absl::StrCat("contains(", list, ", ", value, ")");
}

std::string instead_of_is(const std::string& value, std::string_view rest) {
  const bool is_not = is_word(first_word(rest), "not");
  if (is_not) rest = without_blanks(rest.substr(3));
  const std::string other = first_value(rest);
  const bool is_none = other.empty() || is_word(other, "null") || is_word(other, "none");
  return absl::StrCat(value, is_not ? " != " : " == ", is_none ? "none" : other);
}

/// Returns what replaces `word` and the value after it; empty if `word` is no operator of another language.
std::string instead_of(std::string_view word, const std::string& value, std::string_view rest) {
  const std::string other = first_value(rest);
  auto joined = [&](std::string_view sign) {
    return absl::StrCat(value, " ", std::string(sign), " ", other.empty() ? "…" : other);
  };
  if (word == "=") {
    const std::string_view side = side_after(rest);
    const bool is_shown = other.empty() || (!rest.starts_with('\'') && side.size() <= kPartMax);
    return is_shown && !side.empty() ? absl::StrCat(value, " == ", std::string(side)) : joined("==");
  }
  if (is_word(word, "and")) return "&&";
  if (is_word(word, "or")) return "||";
  if (is_word(word, "div")) return joined("/") + ", which truncates integers";
  if (is_word(word, "mod")) return joined("%");
  if (is_word(word, "eq")) return joined("==");
  if (is_word(word, "is")) return instead_of_is(value, rest);
  if (is_word(word, "in")) return instead_of_in(value, other);
  if (is_word(word, "like") || is_word(word, "ilike")) return instead_of_like(value, other, is_word(word, "ilike"));
  if (is_word(word, "between")) {
    const std::string_view most =
        without_blanks(without_blanks(rest).substr(std::min(other.size(), without_blanks(rest).size())));
    const bool is_whole = is_word(first_word(most), "and");
    return absl::StrCat(value, " >= ", other, " && ", value, " <= ", is_whole ? first_value(most.substr(3)) : "…");
  }
  return {};
}

/// Returns the body with `it` in place of the parameter.
std::string with_it(std::string_view body, std::string_view parameter) {
  std::string out;
  char quote = '\0';
  for (std::size_t i = 0; i != body.size();) {
    const std::string_view word = quote == '\0' ? first_word(body.substr(i)) : std::string_view();
    if (word.empty()) {
      if (body[i] == '"' || body[i] == '\'') quote = quote == '\0' ? body[i] : quote == body[i] ? '\0' : quote;
      out += body[i++];
      continue;
    }
    out += word == parameter ? "it" : std::string(word);
    i += word.size();
  }
  return out;
}

/// Returns the names around a blank: "first middle name".
std::string names_with_blanks(const misplaced_operator& m) {
  std::size_t begin = m.operand_end, end = m.end;
  while (begin != 0 && in_name(m.text[begin - 1])) --begin;
  for (;;) {
    std::size_t next = end;
    while (next != m.text.size() && m.text[next] == ' ') ++next;
    const std::string_view more = first_word(m.text.substr(next));
    const bool is_operator = !instead_of(more, "", "").empty();
    if (next == end || more.empty() || detail::is_digit(more[0]) || is_operator) break;
    end = next + more.size();
  }
  const std::string_view before = m.text.substr(begin, m.operand_end - begin);
  if (before.empty() || detail::is_digit(before[0]) || end - begin > kPartMax) return {};
  return std::string(m.text.substr(begin, end - begin));
}

}  // namespace

std::string none_or(std::string_view value) {
  for (const std::string_view none : {"null", "nil", "none", "na", "undefined"})
    if (is_word(value, none)) return "none";
  return std::string(value);
}

std::string without_lambda(std::string_view stage, std::string_view parameter, std::string_view body) {
  const std::string it = with_it(without_blanks(body), parameter);
  return absl::StrCat("plans have no lambdas, and the element is `it`: write ",
                      stage.empty() ? it : absl::StrCat(std::string(stage), "(", it, ")"));
}

namespace {

/// Returns the message for an operator of another language that is made of two or three signs: "<>". `m.begin` is the
/// sign that no expression has there.
operator_message instead_of_sign(const misplaced_operator& m) {
  if (m.text.substr(m.begin).starts_with('.') &&
      (m.begin == 0 || std::string_view(" ({[,").find(m.text[m.begin - 1]) != std::string_view::npos))
    if (const std::string next = first_value(m.text.substr(m.begin + 1)); !next.empty())
      return {detail::is_digit(next[0]) ? absl::StrCat("a digit stands before the point: write 0.", next)
                                        : absl::StrCat("a column is named without a dot: write ", next),
              m.begin};
  static constexpr std::pair<std::string_view, std::string_view> kSigns[] = {
      {"===", "=="}, {"!==", "!="}, {"<>", "!="}, {"=<", "<="},
      {"=!", "!="},  {"**", "pow"}, {"//", "/"},  {"++", "+ 1"}};
  for (const auto& [sign, ours] : kSigns)
    for (std::size_t back = 0; back != sign.size() && back <= m.begin; ++back) {
      const std::size_t at = m.begin - back;
      if (m.text.substr(at, sign.size()) != sign) continue;
      const std::string_view before = without_blanks(m.text.substr(m.operand_begin, at - m.operand_begin));
      const std::string left(at < m.operand_begin || before.empty() || before.size() > kPartMax ? "x" : before);
      const std::string next = first_value(m.text.substr(at + sign.size())), right = next.empty() ? "y" : next;
      const std::string instead = sign == "**"   ? absl::StrCat("pow(", left, ", ", right, ")")
                                  : sign == "++" ? absl::StrCat(left, " + 1")
                                                 : absl::StrCat(left, " ", std::string(ours), " ", right);
      return {absl::StrCat("there is no operator ", std::string(sign), "; write ", instead), at};
    }
  return {};
}

/// Returns the call for "if c then a else b" and "case when c then a else b end"; empty for other texts.
std::string call_of_branches(std::string_view text) {
  text = text.substr(0, length_up_to(text, ","));
  const std::string lower = absl::AsciiStrToLower(absl::string_view(text.data(), text.size()));
  constexpr std::string_view kThen = " then ", kElse = " else ", kEnd = " end";
  const std::size_t begin = lower.starts_with("if ") ? 3 : lower.starts_with("case when ") ? 10 : 0;
  const std::size_t then = lower.find(kThen), other = std::min(lower.find(kElse), lower.size());
  if (begin == 0 || then == lower.npos || then < begin || other < then) return {};
  const std::size_t end = lower.ends_with(kEnd) ? lower.size() - kEnd.size() : lower.size();
  auto part = [&](std::size_t from, std::size_t to) {
    return std::string(without_blanks(text.substr(from, to - from)));
  };
  return absl::StrCat("if(", part(begin, then), ", ", part(then + kThen.size(), std::min(other, end)), ", ",
                      other < end ? part(other + kElse.size(), end) : "none", ")");
}

/// Returns `"Hello " + string(x)` for the text "Hello {x}" of an f-string.
std::string joined_parts(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool is_value = text[at] == '{';
    const std::size_t end = std::min(text.find(is_value ? '}' : '{', at), text.size());
    const std::string part(is_value ? text.substr(at + 1, end - at - 1) : text.substr(at, end - at));
    absl::StrAppend(&out, out.empty() ? "" : " + ",
                    is_value ? absl::StrCat("string(", part, ")") : absl::StrCat("\"", part, "\""));
    at = end + is_value;
  }
  return out;
}

std::string advice_for(const misplaced_operator& m) {
  const std::string_view word = m.text.substr(m.begin, m.end - m.begin);
  const std::string_view before = m.text.substr(m.operand_begin, m.begin - m.operand_begin);
  if (word.starts_with('"'))
    return before == "f" && word.size() > 2
               ? absl::StrCat("there are no f-strings; write ", joined_parts(word.substr(1, word.size() - 2)))
               : std::string();
  if (const std::string branches = call_of_branches(m.text.substr(m.operand_begin)); !branches.empty())
    return absl::StrCat("there is no operator ", before.starts_with("c") || before.starts_with("C") ? "case" : "if",
                        "; write ", branches);
  std::string_view rest = without_blanks(m.text.substr(m.end));
  const std::string_view operand = without_blanks(m.text.substr(m.operand_begin, m.operand_end - m.operand_begin));
  if (operand == "lambda" && rest.starts_with(':'))
    return without_lambda("", word, rest.substr(1, length_up_to(rest.substr(1), ",")));
  if (word == ">") {
    const bool is_arrow = m.begin != 0 && m.text[m.begin - 1] == '-' && m.begin - 1 >= m.operand_begin;
    const std::string_view parameter = without_blanks(m.text.substr(m.operand_begin, m.begin - 1 - m.operand_begin));
    return is_arrow ? without_lambda("", parameter, rest.substr(0, length_up_to(rest, ","))) : std::string();
  }
  if (word == "=" && rest.starts_with('>')) {
    const std::string_view body = rest.substr(1, length_up_to(rest.substr(1), ","));
    const std::string_view name = operand.starts_with('(') ? operand.substr(1, operand.size() - 2) : operand;
    return without_lambda("", name, body);
  }
  std::string value(operand.size() > kPartMax ? "x" : operand);
  if (is_word(word, "desc") || is_word(word, "asc"))
    return absl::StrCat("top already yields the largest: by=", value, "; the smallest: by=-", value);
  if (is_word(word, "as")) {
    const part_before part = part_up_to(m.text, m.operand_end, false);
    const std::string field = absl::StrCat(std::string(first_word(rest)), ": ", std::string(part.text));
    return absl::StrCat("there is no operator as; ",
                        part.bracket == '{' ? absl::StrCat("the name comes first: write ", field)
                                            : absl::StrCat("a value gets its name in braces: write {", field, "}"));
  }
  if (is_word(word, "if")) {
    const std::size_t otherwise = rest.find(" else ");
    if (otherwise == rest.npos) return "there is no operator if; write if(condition, a, b)";
    const std::string_view last = rest.substr(otherwise + 6);
    return absl::StrCat("there is no operator if; write if(", std::string(without_blanks(rest.substr(0, otherwise))),
                        ", ", std::string(value_before(m.text, m.operand_end, value)), ", ",
                        std::string(without_blanks(last.substr(0, length_up_to(last, ",")))), ")");
  }
  // Comparisons bind less than the arithmetic before them: it % 2 = 0.
  const bool is_arithmetic = is_word(word, "div") || is_word(word, "mod");
  const std::string_view side = part_up_to(m.text, m.operand_end, true).text;
  if (!is_arithmetic && !side.empty() && side.size() <= kPartMax) value = side;
  if (word == "=" && rest.starts_with('~'))
    return absl::StrCat("there are no regular expressions; ", instead_of_pattern(value, first_value(rest.substr(1))));
  const bool is_not = is_word(word, "not");
  if (is_not) {
    const std::string_view next = first_word(rest);
    rest = without_blanks(rest.substr(next.size()));
    const std::string instead = instead_of(next, value, rest);
    if (!instead.empty())
      return absl::StrCat("there is no operator not ", std::string(next), "; write !(", instead, ")");
  }
  const std::string instead = instead_of(word, value, rest);
  if (!instead.empty())
    return word == "="
               ? absl::StrCat("= does not compare; write ",
                              none_or(first_word(rest)) == "none" ? absl::StrCat(value, " == none") : instead)
               : absl::StrCat(
                     "there is no operator ", std::string(word), "; write ", instead,
                     instead == "&&" || instead == "||" ? absl::StrCat(" in place of ", std::string(word)) : "");
  const std::string names = detail::starts_word(word[0]) ? names_with_blanks(m) : std::string();
  return names.empty() ? std::string()
                       : absl::StrCat("a name with blanks is written in backticks: `", names,
                                      "`; otherwise a comma or an operator is missing before ", std::string(word));
}

}  // namespace

operator_message message_of(const misplaced_operator& m) {
  operator_message why = instead_of_sign(m);
  if (why.text.empty()) {
    const bool is_arrow = m.begin != 0 && m.text.substr(m.begin - 1, 2) == "->";
    why = {advice_for(m), m.begin - is_arrow};
  }
  if (why.text.size() > kMessageMax || !is_utf8(why.text)) why.text.clear();
  return why;
}

std::string message_of_method(const expression_tree& method) {
  expression_tree call = method;
  const expression_tree of = call.parts[0];
  if (of.kind == expression_tree::member && (of.text == "str" || of.text == "dt")) call.parts[0] = of.parts[0];
  call.names.clear();
  const std::vector<std::string> known = built_in_names();
  std::string way = find_built_in(call.text) ? std::string() : way_to_function(call);
  const std::string similar = way.empty() ? detail::did_you_mean(call.text, known) : std::string();
  for (const std::string& name : known)
    if (similar == absl::StrCat("; did you mean ", name, "?")) call.text = name;
  std::string why = absl::StrCat("there are no methods", way.empty() ? absl::StrCat("; write ", printed(call)) : way);
  return why.size() <= kMessageMax && is_utf8(why) ? why : "there are no methods; functions take the value first";
}

std::string value_at(std::string_view text) { return first_value(text); }

std::string item_at(std::string_view text) {
  const std::string_view item = without_blanks(text.substr(0, length_up_to(text, ",")));
  return item.empty() || item.size() > kPartMax || !is_utf8(item) ? "…" : std::string(item);
}

std::string message_of_field(const std::string& name, std::string_view text) {
  if (first_word(text) == name && text.substr(name.size()).starts_with('('))
    return absl::StrCat("a call in braces needs a name, as in {", name, ": ", value_at(text), "}");
  return absl::StrCat("a field is written with a colon: write ", name, ": ", item_at(text));
}

std::string way_to_pattern(const std::string& value, const std::string& pattern) {
  return absl::StrCat("there are no regular expressions; ", instead_of_pattern(value, pattern));
}

namespace {

/// Returns the letters around a byte, including letters beyond ASCII.
std::string_view word_around(std::string_view text, std::size_t byte) {
  auto in_word = [text](std::size_t i) {
    return detail::starts_word(text[i]) || detail::is_digit(text[i]) || static_cast<unsigned char>(text[i]) >= 0x80;
  };
  std::size_t begin = byte, end = byte;
  while (begin != 0 && in_word(begin - 1)) --begin;
  while (end != text.size() && in_word(end)) ++end;
  return text.substr(begin, end - begin);
}

std::string message_of_single_quote(std::string_view text, std::size_t at) {
  std::string_view inside = text.substr(at + 1);
  inside = inside.substr(0, inside.find('\''));
  if (inside.size() > kPartMax || !is_utf8(inside)) inside = "…";
  return absl::StrCat("texts are written in double quotes, and in a shell the plan in single quotes: \"",
                      std::string(inside), "\"");
}

std::string way_to_column(std::string_view word) {
  if (word.size() > kPartMax || !is_utf8(word)) word = "…";
  return absl::StrCat(
      "; a column whose name has other characters than ASCII letters, digits and _ is written in backticks: `",
      std::string(word), "`");
}

std::string message_of_question_mark(std::string_view text, std::size_t at) {
  const std::string_view condition = value_before(text, at, "condition");
  const std::string_view rest = text.substr(at + 1);
  if (rest.starts_with('?')) {
    const std::string otherwise = first_value(rest.substr(1));
    return absl::StrCat("there is no operator ??; write value_or(",
                        condition == "condition" || condition.size() > kPartMax ? "x" : std::string(condition), ", ",
                        otherwise.empty() || !is_utf8(otherwise) ? "0" : otherwise, ")");
  }
  const std::size_t colon = length_up_to(rest, ":,");
  std::string_view a = "a", b = "b";
  if (colon != rest.size() && rest[colon] == ':') {
    const std::string_view last = rest.substr(colon + 1);
    a = without_blanks(rest.substr(0, colon));
    b = without_blanks(last.substr(0, length_up_to(last, ",")));
  }
  const std::string why = absl::StrCat("there is no ?: in expressions; write if(", std::string(condition), ", ",
                                       std::string(a), ", ", std::string(b), ")");
  return why.size() <= kMessageMax && is_utf8(why) ? why : "there is no ?: in expressions; write if(condition, a, b)";
}

}  // namespace

std::string message_of_character(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '~')
    if (const std::string other = first_value(text.substr(at + 1)); other.starts_with('"'))
      return way_to_pattern(std::string(part_up_to(text, at, true).text), other);
  if (const std::string inside = detail::in_typographic_quotes(text.substr(at)); !inside.empty())
    return absl::StrCat("these quotes are typographic: write ", inside);
  if (c == '&' || c == '|' || c == '^' || c == '~')
    return absl::StrCat("'", std::string(1, c), "' is no operator of expressions; there are && and ||, and the ",
                        "functions bit_and, bit_or, bit_xor and bit_not", c == '^' ? "; powers are pow(x, y)" : "");
  if (c == '$') return "no expression has the character '$' here; columns have names, and the element is `it`";
  if (c == '?') return message_of_question_mark(text, at);
  if (c == '\'') return message_of_single_quote(text, at);
  const auto bytes = utf8_length(text.substr(at));
  if (bytes == 0 || static_cast<unsigned char>(c) < 0x20) return "no expression has this byte here";
  return absl::StrCat("no expression has the character '", std::string(text.substr(at, bytes)), "' here",
                      bytes == 1 ? "" : way_to_column(word_around(text, at)));
}

bool is_operator(std::string_view s) {
  static constexpr std::string_view kOwn[] = {"||", "&&", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"};
  for (std::string_view op : kOwn)
    if (op == s) return true;
  return false;
}

}  // namespace sluice::lib::expressions
