// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <cstdio>
#include <vector>

#include "cli/figures.hpp"
#include "cli/plan_argument.hpp"
#include "cli/verbs.hpp"
#include "plan/codec.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::cli {
namespace {

std::string size_text(const node& n) {
  cardinality c = cardinality_of(n);
  if (c.is_most()) return ", more elements than can be counted";
  if (c.kind == cardinality::exact) return ", " + counted(static_cast<std::uint64_t>(c.elements), "element");
  return c.kind == cardinality::infinite ? ", without end" : "";
}

/// The values in force, also those that the text leaves out. Texts, functions and plans stand in the text.
/// `is_ignored`: an ignore_errors downstream says what errors do, unless the stage does.
std::string options_text(const node& n, bool is_ignored) {
  std::string out;
  auto add = [&](const field& f, const void* value) {
    absl::StrAppend(&out, out.empty() ? "; " : ", ", std::string(f.name), "=", printed(*f.type, value));
  };
  for (auto& f : n.op->arguments().fields) {
    if (f.type->takes_text() || f.type->takes_functions() || f.type->takes_plan()) continue;
    add(f, argument_list::at(n.arguments.get(), f));
  }
  const void* errors = &n.errors;
  for (auto& f : call_arguments().fields)
    if (!call_arguments().is_default(errors, f)) add(f, argument_list::at(errors, f));
  if (!n.errors.on_error && is_ignored)
    absl::StrAppend(&out, out.empty() ? "; " : ", ", "on_error=skip by ignore_errors");
  return out;
}

}  // namespace

int explain(const std::string& text, const std::string& plan_file) {
  node_ptr plan = plan_file.empty() ? plan_of(text) : plan_in_file(plan_file);
  struct stage_line {
    const node* stage;
    bool is_ignored;
  };
  std::vector<stage_line> stages;  // from the last to the source, or to a stage of several inputs, which is one line
  bool is_ignored = false;
  for (const node* n = plan.get();; n = n->inputs[0].get()) {
    stages.push_back({n, is_ignored && !n->op->sets_error_policy});
    is_ignored |= n->op->sets_error_policy;
    if (n->op->shape != op_info::stage) break;
  }
  std::size_t width = 0;
  for (auto& line : stages) width = std::max(width, stage_text(*line.stage).size());
  for (auto at = stages.rbegin(); at != stages.rend(); ++at) {
    const node& n = *at->stage;
    absl::PrintF("%s%-*s  # %s%s%s\n", at == stages.rbegin() ? "  " : "| ", static_cast<int>(width), stage_text(n),
                 n.type->name, size_text(n), options_text(n, at->is_ignored));
  }
  absl::PrintF("# fingerprint %016x\n", fingerprint(*plan));
  return kOk;
}

}  // namespace sluice::lib::cli
