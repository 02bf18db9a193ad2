// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/reports/description.hpp"
#include "cli/verbs.hpp"
#include "engine/expressions/expression_forms.hpp"
#include "expr/default_options.hpp"
#include "expr/program.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/text/spellings.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {
namespace {

/// Returns the text in the parentheses: "\"path\", compression=automatic, read_bytes=256KiB".
std::string arguments_text(const op_info& op) {
  std::string out;
  auto add = [&](const std::string& text) { absl::StrAppend(&out, out.empty() ? "" : ", ", text); };
  if (op.shape == op_info::combine) add("plan, plan …");
  auto& list = op.arguments();
  for (auto& f : list.fields)
    add(f.required ? f.type->placeholder(f.name)
                   : absl::StrCat(std::string(f.name), "=", printed(*f.type, argument_list::at(list.defaults, f))));
  return out;
}

bool takes_expressions(const codec& type) {
  auto& [map, filter, scan, reduce, key, rank, aggregates, look, opens] = probes_of_expressions();
  return type.takes_function(map) || type.takes_function(filter) || type.takes_function(scan) ||
         type.takes_function(reduce) || type.takes_function(key) || type.takes_function(look) ||
         type.takes_function(rank) || type.takes_function(aggregates) || type.takes_function(opens);
}

/// Returns true if a function is required here, and neither an expression nor a registered function is suitable.
bool lacks_function(const field& f) {
  if (!f.required || !f.type->takes_functions() || f.type->takes_plan() || takes_expressions(*f.type)) return false;
  for (auto& name : function_names())
    for (auto& function : find_functions(name))
      if (f.type->takes_function(*function)) return false;
  return true;
}

/// Returns the argument and the result of a registered function: "word_of: int64 -> word".
std::string signature_text(const stage_function& f) {
  return absl::StrCat(f.name, ": ", f.in ? parameters_text(*f.in) : "nothing", " -> ", f.out ? f.out->name : "nothing");
}

void print_built_in_functions() {
  constexpr std::size_t kLineMax = 100;
  absl::PrintF("\nFunctions of expressions, as in map(lower(text)):\n");
  std::string line;
  for (auto& name : built_in_function_names()) {
    if (line.size() + name.size() >= kLineMax) absl::PrintF(" %s\n", std::exchange(line, {}));
    absl::StrAppend(&line, " ", name);
  }
  absl::PrintF(" %s\n", line);
}

void print_functions() {
  std::vector<std::string> lines;
  for (auto& name : function_names()) {
    std::size_t first = lines.size();
    for (auto& f : find_functions(name)) {
      std::string line = signature_text(*f);
      // A predicate is also a function of a map and of a key.
      if (std::find(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end(), line) == lines.end())
        lines.push_back(std::move(line));
    }
  }
  if (lines.empty()) return;
  absl::PrintF("\nFunctions that this program registers:\n");
  for (auto& line : lines) absl::PrintF("  %s\n", line);
}

}  // namespace

bool needs_program(const op_info& op) { return std::ranges::any_of(op.arguments().fields, lacks_function); }

int ops() {
  bool any_needs = false;
  for (auto* op : operators()) {
    bool needs = needs_program(*op);
    any_needs |= needs;
    absl::PrintF("%-14s %s\n%-14s   (%s)%s\n", std::string(op->name), std::string(op->doc), "", arguments_text(*op),
                 needs ? "  C++" : "");
  }
  absl::PrintF(
      "\nEvery call except ignore_errors also accepts, by name, on_error=stop or skip (the policy for elements that "
      "fail there),\nerrors_max=N (with on_error=skip: one more ends the run) and quarantine=\"PATH\" (with "
      "on_error=skip: stores dropped elements).\n");
  absl::PrintF("\nOther names, each of which stands for a call:\n");
  for (auto& s : detail::all_spellings()) absl::PrintF("  %s(%s) is %s\n", s.name, s.arguments, s.calls);
  print_built_in_functions();
  print_functions();
  if (any_needs)
    absl::PrintF(
        "\nC++: cannot be in a plan for this program, which has no function for it: write the plan in C++, or build a "
        "program that\nregisters the function (SLUICE_FUNCTION in sluice/plan/function.hpp).\n");
  return kOk;
}

}  // namespace sluice::lib::cli
