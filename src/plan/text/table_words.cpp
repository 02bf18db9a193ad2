// SPDX-License-Identifier: Apache-2.0
#include "plan/text/table_words.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "element/text/scan_text.hpp"
#include "plan/text/other_words.hpp"

namespace sluice::lib::detail {
namespace {

argument expression_argument(std::string_view text, std::size_t at) {
  argument a;
  a.kind = argument::expression;
  a.at = a.name_at = at;
  a.source = text;
  return a;
}

/// Returns true for arguments of every call: on_error and the like.
bool is_of_any_call(const argument& a) { return a.name == "on_error" || a.name == "errors_max"; }

bool is_column(std::string_view text) { return is_identifier(text) || text.starts_with('`'); }

/// Returns an argument of select() as it is meant: `x = id` for `id as x`, `x = id + 1` for `id + 1`, `id` for `.id`, and
/// `id, city` for `{id, city}`. Receives the reason in `why` if that differs.
std::string meant_column(const argument& a, std::string& why) {
  std::string_view text = a.source;
  if (!a.name.empty()) return absl::StrCat(a.name, " = ", std::string(text));
  const bool is_list = text.size() > 2 && (text[0] == '[' || text[0] == '{' || text[0] == '(');
  if (is_list && text.find(':') == text.npos) {
    why = "the names stand without brackets";
    return std::string(text.substr(1, text.size() - 2));
  }
  if (text.starts_with('.') && is_column(text.substr(1))) {
    why = "a column is named without a dot";
    return std::string(text.substr(1));
  }
  for (std::string_view as : {" as ", " AS "})
    if (const std::size_t at = text.rfind(as); at != text.npos && is_column(text.substr(at + as.size()))) {
      why = "a new name comes first";
      return absl::StrCat(std::string(text.substr(at + as.size())), " = ", std::string(text.substr(0, at)));
    }
  if (text == "*" || a.kind == argument::quoted) return std::string(text);
  const bool is_computed = text.find_first_of("+*/%(<>\"") != text.npos || text.find(" - ") != text.npos;
  if (!is_computed) return std::string(text);
  why = "a computed value needs a name";
  return absl::StrCat("x = ", std::string(text));
}

/// Refuses select(id as x) and the like.
void check_columns(const call_syntax& call, const element_type* in) {
  std::string meant, why;
  std::size_t at = 0;
  for (const argument& a : call.arguments) {
    if (is_of_any_call(a) || a.source.empty()) continue;
    std::string one_why;
    std::string one = meant_column(a, one_why);
    if (a.source.starts_with('-') && in && in->kind == kind::structure && is_column(a.source.substr(1))) {
      one = columns_except(in, a.source.substr(1));
      one_why = "select names the columns that stay";
    }
    absl::StrAppend(&meant, meant.empty() ? "" : ", ", one);
    if (why.empty() && !one_why.empty()) at = a.at, why = one_why;
  }
  if (!why.empty()) throw misplaced{at, absl::StrCat(call.name, ": ", why, ": write ", call.name, "(", meant, ")")};
}

/// select(a, b, n = x + 1) is map({a, b, n: x + 1}).
call_syntax selected(const call_syntax& call, const element_type* in, std::list<std::string>& texts) {
  call_syntax made{call.at, "map", {}};
  std::string text;
  std::size_t at = call.at;
  check_columns(call, in);
  for (const argument& a : call.arguments) {
    if (is_of_any_call(a)) {
      made.arguments.push_back(a);
      continue;
    }
    if (a.source.empty() || a.source == "*" || a.kind == argument::quoted)
      throw misplaced{a.at, absl::StrCat(call.name, ": expects the names of columns, as in ", call.name, "(",
                                         columns_in_braces(in, "id, total = price * n"), "), and found ",
                                         a.source.empty() ? a.shown() : std::string(a.source),
                                         a.kind == argument::quoted && is_identifier(a.text)
                                             ? absl::StrCat("; names are written without quotes: ", a.text)
                                             : "")};
    // One place fits all columns of the text if the call is written without spaces after its name.
    if (text.empty()) at = (a.name.empty() ? a.at : a.name_at) - 1;
    absl::StrAppend(&text, text.empty() ? "{" : ", ");
    if (!a.name.empty()) absl::StrAppend(&text, a.name, ": ");
    text.append(a.source);
  }
  if (text.empty())
    throw misplaced{call.at, absl::StrCat(call.name, ": needs the names of columns, as in ", call.name, "(",
                                          columns_in_braces(in, "id, name"), ")")};
  texts.push_back(text + "}");
  made.arguments.insert(made.arguments.begin(), expression_argument(texts.back(), at));
  return made;
}

/// sample(0.1) is filter(random() < 0.1).
call_syntax sampled(const call_syntax& call, std::list<std::string>& texts) {
  call_syntax made{call.at, "filter", {}};
  bool has_share = false;
  for (const argument& a : call.arguments) {
    double share = -1;
    if (!a.name.empty() && a.name != "share" && a.name != "fraction" && a.name != "p") {
      made.arguments.push_back(a);
      continue;
    }
    const char* const end = a.text.data() + a.text.size();
    if (a.kind == argument::number && std::from_chars(a.text.data(), end, share).ptr != end) share = -1;
    const bool is_share = !has_share && share >= 0 && share <= 1 && (a.text.find('.') != a.text.npos || share == 0);
    if (!is_share)
      throw misplaced{a.at,
                      absl::StrCat("sample: expects the share of elements that are kept, as in sample(0.1), and found ",
                                   a.source.empty() ? a.shown() : std::string(a.source),
                                   "; shuffle(1000000) | take(100) draws a number of elements")};
    has_share = true;
    texts.push_back(absl::StrCat("random() < ", a.text));
    made.arguments.insert(made.arguments.begin(), expression_argument(texts.back(), a.at));
  }
  if (!has_share) throw misplaced{call.at, "sample: needs the share of elements that are kept, as in sample(0.1)"};
  return made;
}

/// range(start, stop) and range(start, stop, step), as in TensorFlow and Python.
std::optional<call_syntax> range_from(const call_syntax& call) {
  const auto positional =
      static_cast<std::size_t>(std::ranges::count_if(call.arguments, [](const argument& a) { return a.name.empty(); }));
  const bool has_start = std::ranges::any_of(call.arguments, [](const argument& a) { return a.name == "start"; });
  if (positional < 2 || positional > 3 || has_start) return std::nullopt;
  call_syntax made = call;
  std::size_t k = 0;
  for (argument& a : made.arguments) {
    if (!a.name.empty()) continue;
    if (k == 0) a.name = "start";
    if (k == 2) a.name = "step";
    if (!a.name.empty()) a.name_at = a.at;
    ++k;
  }
  return made;
}

}  // namespace

std::optional<call_syntax> call_of_table_word(const call_syntax& call, const element_type* in,
                                              std::list<std::string>& texts) {
  if (call.name == "select" || call.name == "project") return selected(call, in, texts);
  if (call.name == "sample") return sampled(call, texts);
  if (call.name == "range") return range_from(call);
  return std::nullopt;
}

}  // namespace sluice::lib::detail
