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
std::string options_text(const node& n) {
  std::string out;
  for (auto& f : n.op->arguments().fields) {
    if (f.type->takes_text() || f.type->takes_functions() || f.type->takes_plan()) continue;
    absl::StrAppend(&out, out.empty() ? "; " : ", ", std::string(f.name), "=",
                    printed(*f.type, argument_list::at(n.arguments.get(), f)));
  }
  return out;
}

}  // namespace

int explain(const std::string& text, const std::string& plan_file) {
  node_ptr plan = plan_file.empty() ? plan_of(text) : plan_in_file(plan_file);
  std::vector<const node*> stages;  // from the last to the source, or to a stage of several inputs, which is one line
  for (const node* n = plan.get();; n = n->inputs[0].get()) {
    stages.push_back(n);
    if (n->op->shape != op_info::stage) break;
  }
  std::size_t width = 0;
  for (auto* n : stages) width = std::max(width, stage_text(*n).size());
  for (auto at = stages.rbegin(); at != stages.rend(); ++at)
    absl::PrintF("%s%-*s  # %s%s%s\n", at == stages.rbegin() ? "  " : "| ", static_cast<int>(width), stage_text(**at),
                 (*at)->type->name, size_text(**at), options_text(**at));
  absl::PrintF("# fingerprint %016x\n", fingerprint(*plan));
  return kOk;
}

}  // namespace sluice::lib::cli
