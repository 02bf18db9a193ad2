// SPDX-License-Identifier: Apache-2.0
// rule: one rewrite of the optimizer. optimizer.cpp has the list of all rules, and applies them.
//
//   node_ptr remove_it(const node_ptr& n, const in_force& settings, rule_notes& notes) {
//     if (n->op->name != "take" || n->as<take_arguments>().elements >= 0) return n;
//     return without_stage(n, "remove_noops");
//   }
//   const rule remove_noops{{"remove_noops", "take(-1), …"}, remove_it};
//
// A rule receives one node, whose inputs were rewritten already, and returns the node that replaces it. It decides by
// the facts of nodes (plan/facts.hpp), and reads the name of an operator only where it is about that operator. It must be
// exact (sluice/optimizer/optimize.hpp), so it leaves alone whatever it does not know.
// Sites:  a copy of a node keeps its site. A stage that is removed stays in the history of the node upstream of it, so
//   that positions still have its record: without_stage() does that. A stage that moves must have no record that counts
//   the elements of another place in the chain: has_record of the stages that it passes.
// Thread: any.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/node_history.hpp"
#include "sluice/optimizer/optimize.hpp"
#include "sluice/plan/facts.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// The settings of a run, and of stages downstream, that apply to a node.
struct in_force {
  bool drops = false;      ///< a stage without an error policy of its own may drop bad elements
  bool is_sloppy = false;  ///< stages may deliver in the order in which their calls finish
  bool is_fixed = false;   ///< the plan says optimize=false: the node runs as written
  /// The plan says either: an `optimize` further upstream does not apply.
  bool is_decided = false;
  bool trusts = false;            ///< values that nobody reads need no check
  bool is_trust_decided = false;  ///< a `trust` further upstream does not apply
  bool is_last = false;           ///< only with_options is downstream, and the plan is not an inner one
  bool is_inner = false;          ///< the plan is opened for elements, perhaps for many
  bool is_repeated = false;       ///< a stage downstream opens the node again for each epoch
  bool is_beside_others = false;  ///< the node belongs to one of several inputs of a stage
  bool skips_elements = false;    ///< a stage downstream skips some elements, which are then never made
  bool feeds_sloppy = false;      ///< a stage downstream delivers as its calls finish, so when its inputs come decides
  bool is_joined = false;         ///< the stage downstream computes the node's elements, too (fuse_expressions)
  /// The rules that the run, or the plan further downstream, has switched off or on: bit n is the n-th rule.
  std::uint64_t rules_off = 0, rules_on = 0;

  /// Returns true if the stage of `n` drops elements that are bad.
  bool drops_at(const node& n) const { return drops || n.errors.on_error == error_policy::skip; }
  /// Returns the settings for the inputs of `n`, and for its inner plans.
  in_force upstream_of(const node& n) const;
  in_force inside_of(const node& n) const {
    in_force inside = *this;
    inside.drops = drops_at(n);
    inside.is_sloppy = inside.is_last = inside.is_repeated = inside.skips_elements = inside.feeds_sloppy =
        inside.is_joined = false;
    inside.is_inner = true;
    return inside;
  }
  in_force joined(const in_force& other) const {
    in_force both = *this;
    both.drops |= other.drops;
    both.is_sloppy |= other.is_sloppy;
    both.is_fixed |= other.is_fixed;
    both.is_decided &= other.is_decided;
    both.trusts &= other.trusts;
    both.is_trust_decided &= other.is_trust_decided;
    both.is_last &= other.is_last;
    both.is_repeated |= other.is_repeated;
    both.is_beside_others |= other.is_beside_others;
    both.skips_elements |= other.skips_elements;
    both.feeds_sloppy |= other.feeds_sloppy;
    both.is_joined |= other.is_joined;
    both.rules_off |= other.rules_off;
    both.rules_on &= other.rules_on;
    return both;
  }
  bool operator==(const in_force&) const = default;
};

/// The notes of the rules for users. A rule calls refuse() when a user may wonder why it did nothing, and give_reason()
/// when the plan alone does not show why it did something.
struct rule_notes {
  std::vector<rule_note> refused;
  std::vector<rule_note> reasons;

  void refuse(std::string_view rule, std::string text) { refused.push_back({rule, std::move(text)}); }
  void give_reason(std::string_view rule, std::string text) { reasons.push_back({rule, std::move(text)}); }
  void append_reasons(const rule_notes& other) {
    reasons.insert(reasons.end(), other.reasons.begin(), other.reasons.end());
  }
};

/// The stages that still stand for a node after a rule has removed it.
enum class removal : std::uint8_t {
  never,        ///< the rule does not remove such a node
  with_record,  ///< without_stage(): the node upstream of it writes its record, and reports its counts
  traceless     ///< without_trace()
};

struct rule {
  rule_info info;
  node_ptr (*apply)(const node_ptr& n, const in_force& settings, rule_notes& notes);
  /// Returns what remains of `n` if the rule removes it; verify_rewrite() refuses any other removal. Null: the rule
  /// removes no node.
  removal (*removes)(const node& n) = nullptr;
};

// The rules, in the order of the alphabet.
extern const rule filter_early;
extern const rule filter_in_source;
extern const rule fuse_expressions;
extern const rule inject_prefetch;
extern const rule merge_prefetches;
extern const rule merge_skips;
extern const rule merge_takes;
extern const rule overlap_epochs;
extern const rule parallelize;
extern const rule parse_late;
extern const rule prune_columns;
extern const rule push_shard;
extern const rule push_take;
extern const rule remove_noops;
extern const rule shrink_before_buffers;
extern const rule skip_by_bounds;

/// Returns the bit of the rule of this name. Errors: throws invalid_argument, with the names of all rules.
std::uint64_t bit_of_rule(std::string_view name);

/// Makes a node from a changed copy, and adds `rule` to its history.
node_ptr remade(node changed, std::string_view rule);
/// Returns the input of the stage `n`, which then also stands for `n`: it writes its record into positions, and reports
/// its counts. REQUIRES: each element of the input is one of `n`, except for those at the start that a stage downstream
/// skips now. The stage of `n` has no record, or op_lowering::absent.
node_ptr without_stage(const node_ptr& n, std::string_view rule);
/// Returns the input of `n`, an operator that uses the stage of its input as its own. Nothing remains of `n`.
node_ptr without_trace(const node_ptr& n, std::string_view rule);
/// Which stages report the counts of the input of a stage that has moved upstream of another one.
enum class passed_counts : std::uint8_t {
  own,          ///< the stage that is passed counts what it counted in the plan as written
  of_its_input  ///< it counted all elements of the input, and works for fewer now
};
/// Exchanges the stage `moved` with its input, and returns the former input. `moved`: a copy of the node, which may have
/// other arguments. `further` is applied to the moved stage. REQUIRES: the input yields one element for each of its own
/// input, in order, and has no record. So what was removed downstream of either place can stay at that place.
node_ptr exchanged_with_input(node moved, std::string_view rule, passed_counts counts,
                              absl::FunctionRef<node_ptr(const node_ptr&)> further);
/// Returns the node without its inputs and its history, as histories store it.
node_ptr bare(const node& n);
/// Returns a history with the rules and removed nodes of `n`, and with this rule.
std::shared_ptr<node_history> history_of(const node& n, std::string_view rule);

}  // namespace sluice::lib
