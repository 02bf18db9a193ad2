// SPDX-License-Identifier: Apache-2.0
// optimize: the plan that runs instead of the plan as written.
//
//   const optimized& o = optimize(plan);                        // rules as chosen; policy stop
//   plan_text(*o.plan)                                          // what runs
//   for (const rule_note& n : o.refused) print(n.rule, n.text)  // what stayed as it was, and why
//
// A rewrite changes nothing that a user can observe except time and memory: a run yields the same elements in the same
// order, reports the same errors of the same stages at the same elements, drops the same elements, counts the same
// elements per stage, and its checkpoints are those of the plan as written. iterate() calls optimize(); a dataset value
// is optimized once, and all its runs share the result. docs/optimizer.md lists the rules.
// Errors: internal: a rule has broken a plan; the message names the rule. invalid_argument: no rule has that name.
// Thread: any.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/error_policy.hpp"
#include "sluice/engine/dataset_options.hpp"
#include "sluice/optimizer/rule_choice.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// The properties of a run that rules depend on.
struct optimize_options {
  rule_choice rules = {};
  error_policy on_error = error_policy::stop;  ///< of the run (iterate_options)
  run_switch trust = {};                       ///< of the run (iterate_options)
  bool is_part = false;  ///< stages elsewhere read the plan's elements: no rule acts because the plan ends here
};

/// One line of `sluice explain`: what a rule did not do, why it did something, or what a user could do.
struct rule_note {
  std::string_view rule;  ///< or the kind of advice
  std::string text;       ///< "take(5) stays after shuffle(10): …"
};

struct optimized {
  node_ptr plan;  ///< may be the plan as written
  std::vector<rule_note> refused;
  std::vector<rule_note> reasons;  ///< of changes that rules have made because of measured figures
  std::vector<rule_note> advice;   ///< for the plan as written
};

/// Returns the optimized form of the plan. The first call for a plan computes it and keeps it with the plan's node.
std::shared_ptr<const optimized> optimize(const node_ptr& written, const optimize_options& o = {});

/// The plan alone, for runs.
node_ptr optimized_plan(const node_ptr& written, const optimize_options& o = {});

/// The names of the rules that have produced this node, first first; empty for a node as written.
std::span<const std::string_view> rules_of(const node& n);
/// The nodes that rules have removed directly downstream of this one, the most upstream first.
std::span<const node_ptr> removed_after(const node& n);

/// The description of a rule, for documents and `sluice explain --rules`.
struct rule_info {
  std::string_view name;
  std::string_view doc;         ///< one line
  bool must_be_chosen = false;  ///< runs only if a choice names it: rule_choice::with(), with_options(rules=[…])
};
/// All rules, in the order in which they are applied.
std::span<const rule_info> optimizer_rules();

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::optimize;
using lib::optimize_options;
using lib::optimized;

}  // namespace sluice
