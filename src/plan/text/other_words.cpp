// SPDX-License-Identifier: Apache-2.0
#include "plan/text/other_words.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "element/text/scan_text.hpp"
#include "plan/text/other_word_table.hpp"

namespace sluice::lib::detail {

namespace {

constexpr std::size_t kShownMax = 200;

/// Returns an argument's text without the quotes of a text.
std::string value_of(const argument& a) {
  return a.kind == argument::quoted || a.source.empty() ? a.text : std::string(a.source);
}

std::string quoted_column(std::string_view name) {
  return is_identifier(name) ? std::string(name) : absl::StrCat("`", std::string(name), "`");
}

/// Returns the columns, each changed by `change`, which returns an empty text for those to leave out.
template <class F> std::string changed_columns(const element_type* in, std::string_view otherwise, F change) {
  std::string out;
  if (in && in->kind == kind::structure)
    for (const member& m : in->members) {
      const std::string one = change(m, quoted_column(m.name));
      absl::StrAppend(&out, out.empty() || one.empty() ? "" : ", ", one);
    }
  return out.empty() || out.size() > kShownMax ? std::string(otherwise) : out;
}

std::string named_arguments(const call_syntax& call) {
  std::string out;
  for (const argument& a : call.arguments)
    if (!a.name.empty() && !a.source.empty())
      absl::StrAppend(&out, out.empty() ? "" : ", ", a.name, ": ", std::string(a.source));
  return out.empty() ? "new_column: 0" : out;
}

std::string filled_columns(const element_type* in, const std::string& value) {
  bool has_optional = false;
  std::string out = changed_columns(in, "", [&](const member& m, const std::string& name) {
    if (m.type->kind != kind::maybe) return name;
    has_optional = true;
    return absl::StrCat(name, ": value_or(", name, ", ", value, ")");
  });
  return has_optional && !out.empty() ? out : absl::StrCat("x: value_or(x, ", value, "), …");
}

/// rename(old=new) and rename(new=old): the one that is a column is the old one.
std::string renamed_columns(const call_syntax& call, const element_type* in) {
  return changed_columns(in, "new_name: old_name, …", [&](const member& m, const std::string& name) {
    for (const argument& a : call.arguments) {
      if (a.name == m.name) return absl::StrCat(value_of(a), ": ", name);
      if (!a.name.empty() && value_of(a) == m.name) return absl::StrCat(a.name, ": ", name);
    }
    return name;
  });
}

std::string other_columns(const call_syntax& call, const element_type* in) {
  return changed_columns(in, "a, b", [&](const member& m, const std::string& name) {
    for (const argument& a : call.arguments)
      if (value_of(a) == m.name) return std::string();
    return name;
  });
}

}  // namespace

std::string columns_in_braces(const element_type* in, std::string_view otherwise) {
  return changed_columns(in, otherwise, [](const member&, const std::string& name) { return name; });
}

std::string columns_except(const element_type* in, std::string_view name) {
  return changed_columns(
      in, "a, b", [&](const member&, const std::string& column) { return column == name ? std::string() : column; });
}

std::string text_of_call(const call_syntax& call) {
  std::string out;
  for (const argument& a : call.arguments)
    absl::StrAppend(&out, out.empty() ? "" : ", ", a.name, a.name.empty() ? "" : "=", std::string(a.source));
  if (out.size() > kShownMax) out = "…";
  return absl::StrCat(call.name, "(", out, ")");
}

namespace {

bool is_number(const element_type& t) {
  const element_type& value = t.kind == kind::maybe ? *t.element : t;
  return value.kind == kind::scalar && &value != &type_of<bool>();
}
bool is_number_column(const member& m) { return is_number(*m.type); }

/// Returns true if the column `name`, or the element `it`, is a number.
bool is_number_named(const std::string& name, const element_type* in) {
  if (in && name == "it") return is_number(*in);
  return in && in->kind == kind::structure && std::ranges::any_of(in->members, [&](const member& m) {
           return quoted_column(m.name) == name && is_number_column(m);
         });
}

/// An order of SQL, and the rank whose largest elements come first in it: `score desc` and `score`.
struct written_order {
  std::string order, rank;
  std::string_view first = "largest";
  std::string other = {};  ///< ", top(10, by=-score) the 10 smallest" if no direction was written
};
written_order order_of(const call_syntax& call, const element_type* in) {
  std::string column = "it";
  if (in && in->kind == kind::structure && !in->members.empty()) {
    const auto number = std::ranges::find_if(in->members, is_number_column);
    column = quoted_column(number == in->members.end() ? in->members[0].name : number->name);
  }
  if (!call.arguments.empty() && !value_of(call.arguments[0]).empty()) column = value_of(call.arguments[0]);
  std::string order = column;
  bool is_ascending = false;
  for (std::string_view direction : {" desc", " DESC", " asc", " ASC"})
    if (column.ends_with(direction)) {
      column.resize(column.size() - direction.size());
      is_ascending = direction == " asc" || direction == " ASC";
    }
  for (const argument& a : call.arguments) is_ascending |= a.name == "ascending" && a.text == "true";
  for (const argument& a : call.arguments)
    if ((a.name == "desc" || a.name == "descending" || a.name == "reverse") && a.text == "true")
      order = column + " desc";
  const bool has_direction =
      order != column || std::ranges::any_of(call.arguments, [](const argument& a) {
        return a.name == "ascending" || a.name == "desc" || a.name == "descending" || a.name == "reverse";
      });
  // The columns of SQL have other quotes.
  if (order.starts_with('`')) order = absl::StrReplaceAll(order, {{"`", "\\\""}});
  if (is_ascending) return {order, "-" + column, "smallest"};
  written_order written{order, column};
  if (!has_direction && is_number_named(column, in))
    written.other = absl::StrCat(", top(10, by=-", column, ") the 10 smallest");
  return written;
}

std::string first_column(const element_type* in) {
  const bool has_columns = in && in->kind == kind::structure && !in->members.empty();
  return has_columns && is_identifier(in->members[0].name) ? in->members[0].name : "id";
}

}  // namespace

namespace {

/// Returns the last column of text, or `it`.
std::string text_column(const element_type* in) {
  std::string found = "it";
  if (in && in->kind == kind::structure)
    for (const member& m : in->members)
      if (m.type->kind == kind::text) found = quoted_column(m.name);
  return found;
}

}  // namespace

std::string with_underscores(std::string_view name) {
  std::string out;
  bool follows_capital = true;  // nothing precedes the first character
  for (const char c : name) {
    const bool is_capital = c >= 'A' && c <= 'Z';
    if (is_capital && !follows_capital) out += '_';
    out += is_capital ? static_cast<char>(c - 'A' + 'a') : c;
    follows_capital = is_capital;
  }
  return out;
}

std::string with_plan(std::string message, std::string_view plan) {
  constexpr std::string_view kPlan = "'PLAN'", kBare = "PLAN_BEFORE";
  if (const std::size_t bare = message.find(kBare); bare != message.npos) {
    while (plan.ends_with(' ') || plan.ends_with('|')) plan.remove_suffix(1);
    const bool is_whole = !plan.empty() && plan.size() <= kShownMax && plan.find('\n') == plan.npos;
    return message.replace(bare, kBare.size(), is_whole ? std::string(plan) : "A");
  }
  const std::size_t at = message.find(kPlan);
  if (at == message.npos) return message;
  while (plan.ends_with(' ') || plan.ends_with('|')) plan.remove_suffix(1);
  int depth = 0;
  for (const char c : plan) depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
  const bool is_shown = depth == 0 && !plan.empty() && plan.size() <= kShownMax && plan.find('\n') == plan.npos;
  if (!is_shown) return absl::StrCat(message, "; PLAN is the plan before this stage");
  const std::string text = absl::StrReplaceAll(std::string(plan), {{"'", "'\\''"}});
  return message.replace(at, kPlan.size(), absl::StrCat("'", text, "'"));
}

std::string way_to_verb(const call_syntax& call, const element_type* in) {
  // Elements are cast by functions that have the names of types; the function cast() is for tensors.
  if (call.name == "cast" && call.arguments.size() == 2 && call.arguments[1].kind == argument::quoted)
    return absl::StrCat("; write map(", std::string(usual_type_name(call.arguments[1].text)), "(",
                        std::string(call.arguments[0].source), "))");
  const auto* word = std::ranges::find(kOtherWords, std::string_view(call.name), &other_word::name);
  if (word == std::end(kOtherWords))  // groupBy, sortBy, withColumn
    word = std::ranges::find(kOtherWords, with_underscores(call.name), &other_word::name);
  if (word == std::end(kOtherWords))
    word = std::ranges::find(kOtherWords, absl::AsciiStrToLower(call.name), &other_word::name);
  if (word == std::end(kOtherWords)) return {};
  const bool has_first = !call.arguments.empty() && value_of(call.arguments[0]).size() <= kShownMax &&
                         !value_of(call.arguments[0]).empty();
  const written_order order = order_of(call, in);
  const std::string first = has_first ? value_of(call.arguments[0]) : std::string(word->first);
  const bool names_a_file = word->instead.find("$R") != word->instead.npos;
  if (names_a_file && first.starts_with('['))
    return absl::StrCat("; the elements of a list are from_tensor_slices(", first, ")");
  return absl::StrReplaceAll(absl::string_view(word->instead.data(), word->instead.size()),
                             {{"$1", first},
                              {"$O", order.order},
                              {"$B", order.rank},
                              {"$W", std::string(order.first)},
                              {"$V", order.other},
                              {"$K", first_column(in)},
                              {"$C", columns_in_braces(in, "a, b")},
                              {"$N", named_arguments(call)},
                              {"$F", filled_columns(in, first)},
                              {"$M", renamed_columns(call, in)},
                              {"$R", source_reading(first)},
                              {"$T", text_column(in)},
                              {"$D", other_columns(call, in)}});
}

std::string example_of_call(std::string_view verb, const element_type* in, std::string_view first) {
  const auto* example = std::ranges::find(kExamples, verb, &std::pair<std::string_view, std::string_view>::first);
  if (example == std::end(kExamples)) return {};
  std::string value = "it", key = "it";
  if (in && in->kind == kind::structure && !in->members.empty()) {
    const auto number = std::ranges::find_if(in->members, is_number_column);
    key = quoted_column(in->members[0].name);
    value = number == in->members.end() ? key : quoted_column(number->name);
  }
  if (!first.empty() && first.size() <= kShownMax) key = first;
  return absl::StrReplaceAll(absl::string_view(example->second.data(), example->second.size()),
                             {{"$V", value}, {"$1", key}});
}

std::string message_of_columns(const call_syntax& call, const element_type* in) {
  std::vector<std::string> columns;
  for (const argument& a : call.arguments)
    if (a.name.empty() && !a.source.empty() && a.source.size() <= kShownMax) columns.emplace_back(a.source);
  if (columns.empty()) return {};
  const std::string all = absl::StrJoin(columns, ", "), key = columns.size() == 1 ? all : absl::StrCat("{", all, "}");
  std::string rest;
  if (in && in->kind == kind::structure)
    for (const member& m : in->members)
      if (rest.empty() && std::ranges::find(columns, quoted_column(m.name)) == columns.end() && is_identifier(m.name))
        rest = absl::StrCat("; one row for each: group_by(", key, ", {", m.name, ": first(", m.name, ")})");
  return absl::StrCat(call.name, ": takes no columns, and found ", all, "; the distinct values: map(", key,
                      ") | unique", rest);
}

std::string message_of_keys(const call_syntax& call) {
  if (call.arguments.size() == 1 && call.arguments[0].source.starts_with('{') &&
      call.arguments[0].source.find("()") != call.arguments[0].source.npos)
    return absl::StrCat(call.name, ": the key is missing: write ", call.name, "(key, ",
                        std::string(call.arguments[0].source), "), or ", call.name, "(true, ",
                        std::string(call.arguments[0].source), ") to make one group of all elements");
  std::string named;
  for (const argument& a : call.arguments)
    if (a.name != "" && a.name != "key" && a.name != "aggregates" && a.source.ends_with(')'))
      absl::StrAppend(&named, named.empty() ? "" : ", ", a.name, ": ", std::string(a.source));
  if (!named.empty() && call.arguments[0].name.empty() && !call.arguments[0].source.empty())
    return absl::StrCat(call.name, ": aggregates stand in braces: write ", call.name, "(",
                        std::string(call.arguments[0].source), ", {", named, "})");
  std::vector<std::string> keys;
  bool are_words = true;
  std::string aggregates;
  for (const argument& a : call.arguments) {
    if (!a.name.empty()) continue;
    if (a.source.starts_with('{') && &a != &call.arguments[0]) aggregates = std::string(a.source);
    else keys.emplace_back(a.source);
    are_words &= a.kind == argument::word || !aggregates.empty() || a.source.starts_with('`');
  }
  if (keys.size() < 2 || (keys.size() == 2 && aggregates.empty() && keys[1].ends_with(')'))) return {};
  return absl::StrCat(call.name, ": takes one key: write ", call.name, "({",
                      are_words ? absl::StrJoin(keys, ", ") : absl::StrCat(keys[0], ", name: ", keys[1]), "}, ",
                      aggregates.empty() ? "{n: count()}" : aggregates, ")");
}

std::string source_reading(std::string_view path) {
  static constexpr std::pair<std::string_view, std::string_view> kReaders[] = {{".csv", "csv"},
                                                                               {".jsonl", "jsonl"},
                                                                               {".ndjson", "jsonl"},
                                                                               {".tfrecord", "tfrecord"},
                                                                               {".arrow", "from_arrow"},
                                                                               {".feather", "from_arrow"},
                                                                               {".npy", "npy"},
                                                                               {".tar", "tar"},
                                                                               {".zip", "zip_members"},
                                                                               {".bagz", "bagz"},
                                                                               {".array_record", "array_record"}};
  std::string_view reader = "lines";
  for (const auto& [suffix, name] : kReaders)
    if (path.ends_with(suffix)) reader = name;
  return absl::StrCat(std::string(reader), "(\"", std::string(path), "\"", reader == "csv" ? ", header=true)" : ")");
}

}  // namespace sluice::lib::detail
