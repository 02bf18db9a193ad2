// SPDX-License-Identifier: Apache-2.0
// The rules for stages that run elsewhere: those upstream of a distribute, which sends its input.
//
// The optimizer leaves these stages as written, so that what is sent, and what is divided among workers, depends on no rule.
// The node that sends them has the settings in force there, and the process that runs a part of them applies these:
//
//   const sent_rules there = rules_of_input(n);                    // {.rules = {"push_take=off"}}
//   optimized_plan(part, options_of(there, on_error));             // on a worker
//   optimized_part(n, client);                                     // a part that runs in this process
//
// Thread: any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/optimizer/optimize.hpp"

namespace sluice::lib {

struct sent_rules {
  bool is_on = false;                   ///< rules that are not named are those of rule_choice(); false: they are off
  std::vector<std::string> rules = {};  ///< "push_take=off", "parallelize=on"
  std::optional<bool> trusts = {};      ///< none: the run does not decide whether unread values are checked
  bool operator==(const sent_rules&) const = default;
};

/// Returns true for a node whose input runs elsewhere.
bool sends_input(const node& n);
/// The rules for the input of `n`, a node of the plan that runs.
sent_rules rules_of_input(const node& n);
/// The options with which a part of the input is optimized elsewhere. Ignores names of rules that this version lacks.
optimize_options options_of(const sent_rules& there, error_policy on_error);
/// The optimized form of `part`, some of the last stages of the input of `n` over other plans, in this process.
node_ptr optimized_part(const node& n, const node_ptr& part);

}  // namespace sluice::lib
