// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_replace.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/redacted.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/messages/option_notes.hpp"
#include "cli/messages/text_layout.hpp"
#include "cli/reports/figures.hpp"
#include "cli/verb_options/plan_verbs.hpp"
#include "cli/verbs.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/types.hpp"
#include "optimizer/sent_rules.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "sluice/element/spec.hpp"
#include "sluice/engine/dataset_options.hpp"
#include "sluice/op/distribute.hpp"
#include "sluice/optimizer/optimize.hpp"
#include "sluice/plan/facts.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/splits/split_plan.hpp"

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
    if (n.op->facts.options && n.op->arguments().is_default(n.arguments.get(), f)) continue;  // sets nothing
    const void* value = argument_list::at(n.arguments.get(), f);
    if (f.type->is_knob() && printed(*f.type, value) == "nothing") continue;
    add(f, value);
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

/// One stage of a plan, with the settings of stages downstream of it.
struct stage_line {
  const node* stage;
  settings_downstream said;
};

/// Returns the stages from the source, or from a stage with several inputs, which is one line.
std::vector<stage_line> lines_of(const node& plan) {
  std::vector<stage_line> stages;
  settings_downstream said;
  for (const node* n = &plan;; n = n->inputs[0].get()) {
    stages.push_back({n, said});
    said.pass(*n);
    if (n->op->shape != op_info::stage) break;
  }
  std::ranges::reverse(stages);
  return stages;
}

std::string shown(const node& n) { return detail::redacted(stage_text(n)); }

/// Returns "; by push_take, merge_takes" for a node that rules have produced.
std::string rules_text(const node& n) {
  std::string out;
  for (std::string_view rule : lib::rules_of(n)) absl::StrAppend(&out, out.empty() ? "; by " : ", ", std::string(rule));
  return out;
}

/// A line of the plan, and what is said about it.
struct explained_stage {
  std::string text, comment;
};

/// Prints the comments beside the stages, or on a terminal that is too narrow below them.
void print_with_comments(const std::vector<explained_stage>& stages) {
  constexpr std::string_view kBelow = "    # ";
  const std::size_t columns = isatty(STDOUT_FILENO) ? terminal_columns(STDOUT_FILENO) : std::string::npos;
  std::size_t width = 0;
  for (const explained_stage& s : stages) width = std::max(width, s.text.size());
  const bool fits = std::ranges::all_of(
      stages, [&](const explained_stage& s) { return width + 4 + display_width(s.comment) <= columns; });
  for (const explained_stage& s : stages) {
    if (fits) {
      absl::PrintF("%-*s  # %s\n", static_cast<int>(width), s.text, s.comment);
      continue;
    }
    const std::string below = wrapped(s.comment, std::max(columns, 2 * kBelow.size()) - kBelow.size(), 0, 0);
    const std::string indented = absl::StrReplaceAll(below, {{"\n", absl::StrCat("\n", std::string(kBelow))}});
    absl::PrintF("%s\n%s%s\n", s.text, std::string(kBelow), indented);
  }
}

void print_stages(const node& plan, explained what) {
  const std::vector<stage_line> stages = lines_of(plan);
  std::vector<explained_stage> lines;
  bool may_be_fewer = false;
  for (const stage_line& line : stages) {
    const node& n = *line.stage;
    may_be_fewer |= !n.errors.on_error && line.said.on_error == error_policy::skip && may_meet_bad(n);
    may_be_fewer &= !states_its_size(n);
    const std::string rest =
        what == explained::facts ? "; " + facts_text(n) : options_text(n, line.said) + rules_text(n);
    lines.push_back({absl::StrCat(&line == &stages.front() ? "  " : "| ", shown(n)),
                     absl::StrCat(n.type->name, size_text(n, may_be_fewer), rest)});
  }
  print_with_comments(lines);
}

/// The plan of the stages upstream of `n` as a worker optimizes it, and the names of the rules. Returns an empty text if no
/// rule acts.
std::string form_on_workers(const node_ptr& part, const node& n) {
  const node_ptr form = optimized_plan(part, options_of(rules_of_input(n), error_policy::stop));
  std::string rules;
  for (const stage_line& line : lines_of(*form))
    for (std::string_view rule : lib::rules_of(*line.stage))
      if (rules.find(rule) == rules.npos) absl::StrAppend(&rules, rules.empty() ? "" : ", ", std::string(rule));
  return rules.empty() ? rules : absl::StrCat(detail::redacted(plan_text(*form)), "; by ", rules);
}

/// Prints what rules make of the stages that run on workers, which are shown as written.
void print_forms_on_workers(const node& plan) {
  for (const stage_line& line : lines_of(plan)) {
    const node& n = *line.stage;
    if (!sends_input(n)) continue;
    const distribute_options& o = n.as<distribute_arguments>().options;
    std::vector<node_ptr> parts{n.inputs[0]};
    try {
      if (o.mode == sharding::dynamic) {
        const split_plan cut(n.inputs[0], {.visitation = o.visitation});
        parts.clear();
        for (const split_stream& s : cut.streams()) parts.push_back(parse_plan(s.text));
      }
    } catch (const error&) { continue; }  // a run reports why the plan cannot be split
    for (const node_ptr& part : parts)
      if (const std::string form = form_on_workers(part, n); !form.empty())
        absl::PrintF("# each worker runs, for its splits: %s\n", form);
  }
}

void print_notes(const optimized& o, const std::vector<std::string>& of_options) {
  for (const std::string& note : of_options) absl::PrintF("# %s\n", note);
  for (const std::vector<rule_note>& notes : {o.reasons, o.refused})
    for (const rule_note& note : notes) absl::PrintF("# %s: %s\n", std::string(note.rule), detail::redacted(note.text));
  for (const rule_note& note : o.advice) absl::PrintF("# advice: %s\n", detail::redacted(note.text));
}

/// Prints the stages of both plans: those of one of them after - or +, common ones after blanks.
void print_diff(const node& written, const node& runs) {
  std::vector<std::string> a, b;
  for (const stage_line& line : lines_of(written)) a.push_back(shown(*line.stage));
  for (const stage_line& line : lines_of(runs)) b.push_back(shown(*line.stage));
  // common[i][j]: the length of the longest common subsequence of both from i and j on.
  std::vector<std::vector<std::size_t>> common(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = a.size(); i-- != 0;)
    for (std::size_t j = b.size(); j-- != 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  for (std::size_t i = 0, j = 0; i != a.size() || j != b.size();) {
    if (i != a.size() && j != b.size() && a[i] == b[j]) {
      absl::PrintF("  %s\n", a[i]);
      ++i;
      ++j;
    } else if (j == b.size() || (i != a.size() && common[i + 1][j] >= common[i][j + 1])) {
      absl::PrintF("- %s\n", a[i++]);
    } else {
      absl::PrintF("+ %s\n", b[j++]);
    }
  }
}

using json = nlohmann::ordered_json;

json as_json(const std::vector<rule_note>& notes) {
  json list = json::array();
  for (const rule_note& note : notes)
    list.push_back(json{{"rule", std::string(note.rule)}, {"text", detail::redacted(note.text)}});
  return list;
}

void print_optimized_json(const node& written, const optimized& o, const std::vector<std::string>& of_options) {
  json stages = json::array();
  for (const stage_line& line : lines_of(*o.plan)) {
    const node& n = *line.stage;
    json rules = json::array(), removed = json::array();
    for (std::string_view rule : lib::rules_of(n)) rules.push_back(std::string(rule));
    for (const node_ptr& gone : removed_after(n)) removed.push_back(shown(*gone));
    stages.push_back(json{{"stage", shown(n)}, {"type", n.type->name}, {"rules", rules}, {"removed_after", removed}});
  }
  const json all = {{"written", detail::redacted(plan_text(written))},
                    {"runs", detail::redacted(plan_text(*o.plan))},
                    {"fingerprint", absl::StrFormat("%016x", fingerprint(written))},
                    {"stages", stages},
                    {"reasons", as_json(o.reasons)},
                    {"refused", as_json(o.refused)},
                    {"advice", as_json(o.advice)},
                    {"options", of_options}};
  absl::PrintF("%s\n", all.dump(2, ' ', false, json::error_handler_t::replace));
}

void print_rules() {
  for (const rule_info& r : optimizer_rules()) absl::PrintF("%-18s  %s\n", std::string(r.name), std::string(r.doc));
}

}  // namespace

int explain(const explain_arguments& a) {
  const rule_choice rules = rules_of(a.rules);
  const explained what = a.what;
  if (what == explained::rules) return print_rules(), kOk;
  node_ptr plan = a.plan_file.empty() ? plan_or_reader(a.plan, a.format) : plan_in_file(a.plan_file);
  if (what == explained::json) return absl::PrintF("%s\n", plan_json(*plan)), kOk;
  if (what == explained::splits) return print_places(plan), kOk;
  if (what == explained::spec) return absl::PrintF("%s\n", element_spec_of(*plan).text()), kOk;
  const std::shared_ptr<const optimized> o = optimize(plan, {.rules = rules, .trust = a.rules.trust()});
  if (what == explained::optimized) return print_optimized_json(*plan, *o, option_notes(*plan, a.rules)), kOk;
  if (what == explained::diff) return print_diff(*plan, *o->plan), kOk;
  const bool as_it_runs = what == explained::stages;
  print_stages(as_it_runs ? *o->plan : *plan, what);
  if (as_it_runs) print_forms_on_workers(*o->plan);
  if (as_it_runs) print_notes(*o, option_notes(*plan, a.rules));
  absl::PrintF("# fingerprint %016x\n", fingerprint(*plan));
  return kOk;
}

}  // namespace sluice::lib::cli
