// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include "cli/description.hpp"
#include "cli/verbs.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {
namespace {

/// "path, *, compression: name = automatic": what it takes in the parentheses.
std::string arguments_of(const op_info& op) {
  std::string out;
  auto add = [&](const std::string& text) { absl::StrAppend(&out, out.empty() ? "" : ", ", text); };
  if (!op.text_name.empty()) add(absl::StrCat("\"", std::string(op.text_name), "\""));
  if (op.accepts && op.text_name.empty()) add(op.reader == op_info::no_reader ? "function" : "function or reader");
  else if (op.reader != op_info::no_reader) add("reader");
  if (op.shape == op_info::combine) add("plan, plan …");
  options defaults(op.fields());
  for (auto& f : op.fields().fields)
    add(f.required ? std::string(f.name) : absl::StrCat(std::string(f.name), "=", defaults.text(f)));
  return out;
}

}  // namespace

bool needs_program(const op_info& op) {
  if (!op.accepts || !op.text_name.empty() || op.reader != op_info::no_reader) return false;
  for (auto& name : function_names())
    for (auto& f : find_functions(name))
      if (op.accepts(*f)) return false;
  return true;
}

int ops() {
  bool any_needs = false;
  for (auto* op : operators()) {
    bool needs = needs_program(*op);
    any_needs |= needs;
    absl::PrintF("%-14s %s\n%-14s   (%s)%s\n", std::string(op->name), std::string(op->doc), "", arguments_of(*op),
                 needs ? "  C++" : "");
  }
  if (any_needs)
    absl::PrintF(
        "\nC++: not in a plan for this program, which has no function for it: write the plan in C++, or make a program "
        "that\nregisters the function (SLUICE_FUNCTION in sluice/plan/function.hpp).\n");
  return kOk;
}

}  // namespace sluice::lib::cli
