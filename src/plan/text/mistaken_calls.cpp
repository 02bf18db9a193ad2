// SPDX-License-Identifier: Apache-2.0
#include "plan/text/mistaken_calls.hpp"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "element/text/scan_text.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/text/other_words.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::detail {

std::string written(const argument& a) {
  constexpr std::size_t kShownMax = 60;
  return a.source.empty() || a.source.size() > kShownMax ? a.shown() : std::string(a.source);
}

std::string name_meant_by(std::string_view word, const std::vector<std::string>& names) {
  static constexpr std::pair<std::string_view, std::string_view> kOthers[] = {{"sep", "delimiter"},
                                                                              {"separator", "delimiter"},
                                                                              {"batch_size", "size"},
                                                                              {"n", "elements"},
                                                                              {"num_parallel_calls", "parallelism"},
                                                                              {"has_header", "header"},
                                                                              {"dtypes", "schema"},
                                                                              {"types", "schema"},
                                                                              {"usecols", "select"},
                                                                              {"cycle", "cycle_length"},
                                                                              {"path", "files"}};
  for (const auto& [other, ours] : kOthers)
    if (other == word && std::ranges::find(names, std::string(ours)) != names.end()) return std::string(ours);
  constexpr std::size_t kLettersLeast = 3;
  if (word.size() < kLettersLeast) return {};
  std::string found;
  for (const std::string& name : names) {
    if (!name.starts_with(word)) continue;
    if (!found.empty()) return {};
    found = name;
  }
  return found;
}

argument at_equals_sign(const argument& a) {
  argument moved = a;
  if (a.source.empty() || a.name_at >= a.at) return moved;
  const char* sign = a.source.data();  // a part of the plan's text, which has the name and = before it
  while (*--sign != '=') {}
  moved.name_at = a.at - static_cast<std::size_t>(a.source.data() - sign);
  return moved;
}

std::string with_all_columns(const misplaced& why, const argument& a, const element_type* in) {
  constexpr std::string_view kStar = "* does not stand for all columns", kNumber = "expects a whole number, and is ";
  if (!a.source.empty() && a.kind != argument::number && why.what.find(kNumber) != why.what.npos &&
      why.what.find(": write") == why.what.npos) {
    const std::string example = example_of_call(why.what.substr(0, why.what.find(':')), in, "");
    return absl::StrCat(why.what, example.empty() ? "" : "; as in ", example);
  }
  if (!why.what.ends_with(kStar)) return why.what;
  const std::string columns = columns_in_braces(in, "");
  const std::size_t star = a.source.find('*');
  if (columns.empty() || star == a.source.npos) return absl::StrCat(why.what, "; write their names");
  return absl::StrCat(why.what, ": write ", std::string(a.source.substr(0, star)), columns,
                      std::string(a.source.substr(star + 1)));
}

std::string with_fields_in_braces(const call_syntax& call, const op_info& op) {
  static constexpr std::string_view kNames[] = {"x", "y", "z"};
  std::string fields, options;
  std::size_t k = 0;
  for (const argument& a : call.arguments) {
    const std::string source(a.source);
    if (!a.name.empty() && (op.arguments().find(a.name) || call_arguments().find(a.name))) {
      absl::StrAppend(&options, ", ", a.name, "=", source);
      continue;
    }
    const std::size_t colon = source.find(':');
    const bool has_name = colon != source.npos && is_identifier(source.substr(0, colon));
    const bool is_field = is_identifier(source) || source.starts_with('`') || has_name;
    absl::StrAppend(&fields, fields.empty() ? "" : ", ");
    if (!a.name.empty()) absl::StrAppend(&fields, a.name, ": ");
    else if (!is_field) absl::StrAppend(&fields, std::string(kNames[std::min(k, std::size(kNames) - 1)]), ": ");
    absl::StrAppend(&fields, source);
    ++k;
  }
  return absl::StrCat(std::string(op.name), "({", fields, "}", options, ")");
}

std::string message_of_source_in_program(const call_syntax& call) {
  if (call.name == "from_channel")
    return "from_channel: takes the elements that a C++ program pushes; plan text cannot name its channel";
  if (call.name != "from_elements" || call.arguments.empty()) return {};
  std::string values;
  for (const argument& a : call.arguments) absl::StrAppend(&values, values.empty() ? "" : ", ", std::string(a.source));
  if (!values.starts_with('[')) values = absl::StrCat("[", values, "]");
  return absl::StrCat("from_elements: takes the elements of a C++ program: write from_tensor_slices(", values, ")");
}

void check_form(const call_syntax& call, const element_type* in) {
  if (const std::string why = message_of_source_in_program(call); !why.empty()) throw misplaced{call.at, why};
  std::string why;
  if (call.name == "unique" || call.name == "distinct") why = message_of_columns(call, in);
  if (call.name == "group_by") why = message_of_keys(call);
  if (why.empty()) return;
  const std::size_t first = call.name == "group_by" && call.arguments.size() > 1 ? 1 : 0;
  throw misplaced{call.arguments[first].at, why};
}

std::string with_stage_before_batch(const std::string& why, const call_syntax& call, const node* input) {
  constexpr std::string_view kAdvice = "put this stage before batch";
  const std::size_t at = why.find(kAdvice);
  const bool is_batch = input && input->inputs.size() == 1 && input->op->name == "batch";
  const std::string stage = text_of_call(call);
  // A function of one value gets a whole batch: "expects a text, and `it` is line[]".
  if (at == why.npos && is_batch && why.ends_with("[]") && why.find(": expects ") != why.npos &&
      stage.find("…") == stage.npos)
    return absl::StrCat(why, "; put ", call.name, " before batch: ", stage, " | ", stage_text(*input));
  if (at == why.npos || !is_batch || stage.find("…") != stage.npos) return why;
  return absl::StrCat(why.substr(0, at), "put ", call.name, " before batch: ", stage, " | ", stage_text(*input),
                      why.substr(at + kAdvice.size()));
}

std::string with_typed_word(const std::string& why, const std::string& typed, const std::string& meant) {
  return why.starts_with(meant + ": ") ? typed + why.substr(meant.size()) : why;
}

std::string source_behind_stage(const call_syntax& call, const op_info& op) {
  if (op.shape != op_info::combine) {
    const bool is_reader =
        std::ranges::any_of(op.arguments().fields, [](const field& f) { return f.type->is_later(); });
    return absl::StrCat(call.name, ": a source takes no input",
                        call.name == "csv" ? ": csv(\"*.csv\", header=true) reads all files of a pattern"
                        : is_reader
                            ? absl::StrCat(": interleave(", call.name, ") opens one for each path that comes")
                            : absl::StrCat("; to append it, write concatenate(PLAN_BEFORE, ", text_of_call(call), ")"));
  }
  const bool is_listed = op.inputs_behind_list >= 0;
  return absl::StrCat(call.name, ": takes no input before a bar: write ", call.name,
                      is_listed ? "([A, B], …)" : "(A, B)", ", where A is all that stands before the bar");
}

}  // namespace sluice::lib::detail
