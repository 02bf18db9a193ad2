// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include "base/text/redacted.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/reports/figures.hpp"
#include "cli/verbs.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "sluice/element/spec.hpp"
#include "sluice/engine/dataset_options.hpp"
#include "sluice/plan/facts.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::cli {
namespace {

/// `may_be_fewer`: an option of a stage downstream drops bad elements.
std::string size_text(const node& n, bool may_be_fewer) {
  cardinality c = cardinality_of(n);
  if (c.is_most()) return ", more elements than can be counted";
  if (c.kind == cardinality::exact) {
    const bool is_most = may_be_fewer && c.elements != 0;
    return (is_most ? ", at most " : ", ") + counted(static_cast<std::uint64_t>(c.elements), "element");
  }
  if (c.kind == cardinality::infinite) return ", without end";
  cardinality most = cardinality_bounds_of(n).most;
  if (most.kind != cardinality::exact || most.is_most()) return {};
  return ", at most " + counted(static_cast<std::uint64_t>(most.elements), "element");
}

/// The settings of stages downstream that apply to a stage without settings of its own.
struct settings_downstream {
  std::optional<error_policy> on_error = {};
  std::string_view by = {};   ///< the stage that sets on_error
  bool is_outermost = false;  ///< set by with_options: settings upstream do not apply
  std::optional<order> order_given = {};

  void pass(const node& n) {
    if (n.op->facts.options) {
      const dataset_options& o = n.op->facts.options(n);
      if (o.on_error && !is_outermost) *this = {o.on_error, n.op->name, true, order_given};
      if (!order_given) order_given = o.order;
    } else if (n.op->facts.sets_error_policy) {
      on_error = error_policy::skip;
      by = n.op->name;
    }
  }
};

/// Returns true if elements of this stage may be bad. False if the stage generates numbers, or yields its elements
/// unchanged.
bool may_meet_bad(const node& n) {
  if (n.op->shape == op_info::source) return cardinality_of(n).kind == cardinality::unknown;
  return n.op->type != same_type;
}

/// Returns true if elements that are dropped upstream do not change the number of elements.
bool states_its_size(const node& n) {
  constexpr std::string_view kNames[] = {"assert_cardinality", "pad_to_cardinality", "reduce", "count_elements"};
  return std::ranges::find(kNames, std::string_view(n.op->name)) != std::end(kNames);
}

/// Returns the values in force, including those that the text omits. Texts, functions and plans are in the text
/// already.
std::string options_text(const node& n, const settings_downstream& said) {
  std::string out;
  auto add = [&](const field& f, const void* value) {
    absl::StrAppend(&out, out.empty() ? "; " : ", ", std::string(f.name), "=", printed(*f.type, value));
  };
  for (auto& f : n.op->arguments().fields) {
    if (f.type->takes_text() || f.type->takes_functions() || f.type->takes_plan()) continue;
    add(f, argument_list::at(n.arguments.get(), f));
    if (f.name == "order" && said.order_given == order::sloppy && !n.op->facts.options &&
        out.ends_with("=deterministic"))
      out = out.substr(0, out.size() - std::string_view("deterministic").size()) + "sloppy by with_options";
  }
  const void* errors = &n.errors;
  for (auto& f : call_arguments().fields)
    if (!call_arguments().is_default(errors, f)) add(f, argument_list::at(errors, f));
  if (!n.errors.on_error && said.on_error && !n.op->facts.sets_error_policy)
    absl::StrAppend(&out, out.empty() ? "; " : ", ",
                    said.on_error == error_policy::skip ? "on_error=skip by " : "on_error=stop by ",
                    std::string(said.by));
  return out;
}

}  // namespace

int explain(const std::string& text, const std::string& plan_file, explained what) {
  node_ptr plan = plan_file.empty() ? plan_of(text) : plan_in_file(plan_file);
  if (what == explained::json) {
    absl::PrintF("%s\n", plan_json(*plan));
    return kOk;
  }
  if (what == explained::spec) {
    absl::PrintF("%s\n", element_spec_of(*plan).text());
    return kOk;
  }
  struct stage_line {
    const node* stage;
    settings_downstream said;
  };
  // From the last stage to the source, or to a stage with several inputs, which is one line.
  std::vector<stage_line> stages;
  settings_downstream said;
  for (const node* n = plan.get();; n = n->inputs[0].get()) {
    stages.push_back({n, said});
    said.pass(*n);
    if (n->op->shape != op_info::stage) break;
  }
  std::size_t width = 0;
  auto shown = [](const node& n) { return detail::redacted(stage_text(n)); };
  for (auto& line : stages) width = std::max(width, shown(*line.stage).size());
  bool may_be_fewer = false;
  for (auto at = stages.rbegin(); at != stages.rend(); ++at) {
    const node& n = *at->stage;
    may_be_fewer |= !n.errors.on_error && at->said.on_error == error_policy::skip && may_meet_bad(n);
    may_be_fewer &= !states_its_size(n);
    absl::PrintF("%s%-*s  # %s%s%s\n", at == stages.rbegin() ? "  " : "| ", static_cast<int>(width), shown(n),
                 n.type->name, size_text(n, may_be_fewer),
                 what == explained::facts ? "; " + facts_text(n) : options_text(n, at->said));
  }
  absl::PrintF("# fingerprint %016x\n", fingerprint(*plan));
  return kOk;
}

}  // namespace sluice::lib::cli
