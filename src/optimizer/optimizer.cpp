// SPDX-License-Identifier: Apache-2.0
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/lowering/element_specs.hpp"
#include "optimizer/advice.hpp"
#include "optimizer/rule.hpp"
#include "optimizer/sent_rules.hpp"
#include "optimizer/verify.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/node_history.hpp"
#include "plan/plan_depth.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/optimizer/optimize.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// The rules in the order in which they are applied. The list is repeated until no rule changes the plan.
const rule* const kRules[] = {
    &remove_noops,  // first: what does nothing separates stages that other rules merge
    &merge_takes,   // before push_take, which then moves one take instead of two
    &merge_skips,
    &push_take,         // before merge_prefetches: a take between two channels keeps them apart
    &push_shard,        // before merge_prefetches, for the same reason
    &filter_early,      // before shrink_before_buffers: no filter follows a map past a shuffle
    &filter_in_source,  // after filter_early, which moves filters to sources
    &skip_by_bounds,    // for the same reason
    &shrink_before_buffers,
    &prune_columns,     // after those that move maps and filters: they change which stage makes the members
    &parse_late,        // before parallelize, which gives both of its steps several cores
    &merge_prefetches,  // after those that move the stages between two channels
    &fuse_expressions,  // after the others that move and remove stages: a removed one must not stand between two parts
    &overlap_epochs,    // after those that move stages past a shuffle
    &parallelize,       // after fuse_expressions: one stage of several expressions gains more than several channels
    &inject_prefetch,   // last: at the end of the plan that the others have made
};
constexpr std::size_t kRuleCount = std::size(kRules);

/// A bound for rules that undo each other's work. Each round applies all rules once; plans need two or three.
constexpr int kRoundsMax = 16;

/// The settings in force at each node of a plan: all those of its consumers together.
class settings_of_plan {
 public:
  settings_of_plan(const node& plan, const in_force& outside) { note(plan, outside, true); }
  const in_force& at(const node& n) const { return known_.at(&n); }

 private:
  void note(const node& n, const in_force& settings, bool is_first) {
    auto [known, is_new] = known_.try_emplace(&n, settings);
    const in_force all = known->second.joined(settings);
    if (!is_new && !is_first && all == known->second) return;
    known->second = all;
    for (const node_ptr& input : n.inputs) note(*input, all.upstream_of(n), false);
  }
  absl::flat_hash_map<const node*, in_force> known_;
};

/// Rewrites a plan by one function, inputs first. A node that several nodes read is rewritten once.
template <class F> class pass {
 public:
  pass(const settings_of_plan& settings, F& change) : settings_(settings), change_(change) {}

  node_ptr rewritten(const node_ptr& n) {
    if (auto done = done_.find(n.get()); done != done_.end()) return done->second;
    std::vector<node_ptr> inputs;
    inputs.reserve(n->inputs.size());
    for (const node_ptr& input : n->inputs) inputs.push_back(rewritten(input));
    node_ptr with_inputs = n;
    if (inputs != n->inputs) {
      node copy = *n;
      copy.inputs = std::move(inputs);
      with_inputs = make_node(std::move(copy));
    }
    node_ptr made = change_(with_inputs, settings_.at(*n));
    done_.emplace(n.get(), made);
    return made;
  }

 private:
  const settings_of_plan& settings_;
  F& change_;
  absl::flat_hash_map<const node*, node_ptr> done_;
};

template <class F> node_ptr rewritten(const node_ptr& plan, const in_force& outside, F change) {
  const settings_of_plan settings(*plan, outside);
  return pass<F>(settings, change).rewritten(plan);
}

/// One optimization of one plan, without the optimized forms of its inner plans.
struct form_found {
  node_ptr plan;  ///< null: unchanged
  rule_notes notes;
};

class kept_form final : public plan_memo::entry {
 public:
  kept_form(std::uint64_t key, form_found f) : entry(key), form(std::move(f)) {}
  const form_found form;
};

std::uint64_t key_of(const in_force& f) {
  const std::uint64_t settings[] = {std::uint64_t{f.drops} | std::uint64_t{f.is_sloppy} << 1 |
                                        std::uint64_t{f.is_fixed} << 2 | std::uint64_t{f.is_decided} << 3 |
                                        std::uint64_t{f.is_last} << 4 | std::uint64_t{f.is_inner} << 5 |
                                        std::uint64_t{f.is_repeated} << 6 | std::uint64_t{f.skips_elements} << 7 |
                                        std::uint64_t{f.is_beside_others} << 8 | std::uint64_t{f.trusts} << 9 |
                                        std::uint64_t{f.is_trust_decided} << 10 | std::uint64_t{f.feeds_sloppy} << 11 |
                                        std::uint64_t{f.is_joined} << 12,
                                    f.rules_off, f.rules_on};
  return stable_hash(std::string_view(reinterpret_cast<const char*>(settings), sizeof settings), 0);
}

/// Returns true if the rule with this number rewrites nodes at which `f` is in force.
bool allows(const in_force& f, std::size_t number) {
  if (f.is_fixed || (f.rules_off >> number & 1)) return false;
  return !kRules[number]->info.must_be_chosen || (f.rules_on >> number & 1);
}

std::shared_ptr<const form_found> form_of(const node_ptr& written, const in_force& outside);

/// Returns a copy of the node whose inner plans are optimized; the node itself if none of them changes.
node_ptr with_inner_forms(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  struct inner_plans final : part_visitor {
    in_force inside;
    rule_notes& notes;
    bool has_changed = false;
    inner_plans(const in_force& f, rule_notes& to) : inside(f), notes(to) {}
    void plan(const node_ptr& p) override {
      std::shared_ptr<const form_found> form = form_of(p, inside);
      notes.refused.insert(notes.refused.end(), form->notes.refused.begin(), form->notes.refused.end());
      notes.append_reasons(form->notes);
      if (!form->plan) return;
      has_changed = true;
      const_cast<node_ptr&>(p) = form->plan;  // a member of the copied arguments, which are not const
    }
  };
  bool has_plans = false;
  for_each_plan(*n, [&has_plans](const node_ptr&) { has_plans = true; });
  if (!has_plans) return n;
  const argument_list& list = n->op->arguments();
  std::shared_ptr<void> copied = list.copy(n->arguments.get());
  inner_plans inner(settings.inside_of(*n), notes);
  list.visit(copied.get(), inner);
  if (!inner.has_changed) return n;
  node copy = *n;
  copy.arguments = arguments(list.tag, std::move(copied));
  return make_node(std::move(copy));
}

node_ptr with_rules(node_ptr plan, const in_force& outside, rule_notes& notes) {
  for (int round = 0; round != kRoundsMax; ++round) {
    const node_ptr before = plan;
    rule_notes of_round;
    for (std::size_t i = 0; i != kRuleCount; ++i) {
      if (outside.rules_off >> i & 1) continue;
      const rule& one = *kRules[i];
      auto change = [&](const node_ptr& n, const in_force& f) { return allows(f, i) ? one.apply(n, f, of_round) : n; };
      node_ptr next = rewritten(plan, outside, change);
      if (next == plan) continue;
      verify_rewrite(*plan, *next, one);
      plan = std::move(next);
    }
    notes.append_reasons(of_round);
    if (plan != before && round + 1 != kRoundsMax) continue;
    notes.refused.insert(notes.refused.end(), of_round.refused.begin(), of_round.refused.end());
    break;
  }
  return plan;
}

/// Notes the settings in force at the nodes that send their inputs, for the rules there.
node_ptr with_sent_settings(const node_ptr& plan, const in_force& outside) {
  return rewritten(plan, outside, [](const node_ptr& n, const in_force& settings) {
    if (!sends_input(*n) || settings.is_fixed) return n;
    node copy = *n;
    auto h = copy.history ? std::make_shared<node_history>(*copy.history) : std::make_shared<node_history>();
    h->sends = std::make_shared<const in_force>(settings);
    copy.history = std::shared_ptr<const node_history>(std::move(h));
    return make_node(std::move(copy));
  });
}

std::shared_ptr<const form_found> form_of(const node_ptr& written, const in_force& outside) {
  const std::uint64_t key = key_of(outside);
  auto shared = [&written](const plan_memo::entry& e) {
    return std::shared_ptr<const form_found>(written, &static_cast<const kept_form&>(e).form);
  };
  if (const plan_memo::entry* known = written->memo.find(key)) return shared(*known);
  // The node owns the result, so the result contains a copy of the node.
  auto start = std::make_shared<const node>(*written);
  form_found f;
  auto inner = [&](const node_ptr& n, const in_force& settings) { return with_inner_forms(n, settings, f.notes); };
  if (std::string twice = stage_without_own_site(*written); !twice.empty()) {
    f.notes.refuse("all", twice + " has the site of another stage: the plan runs as written");
  } else {
    node_ptr plan = with_rules(rewritten(node_ptr(start), outside, inner), outside, f.notes);
    plan = with_sent_settings(plan, outside);
    if (plan != start) f.plan = std::move(plan);
  }
  std::unique_ptr<plan_memo::entry> made = std::make_unique<kept_form>(key, std::move(f));
  if (const plan_memo::entry* kept = written->memo.add(made)) return shared(*kept);
  std::shared_ptr<const plan_memo::entry> own = std::move(made);
  return {own, &static_cast<const kept_form&>(*own).form};
}

}  // namespace

namespace {

in_force outside_of(const optimize_options& o) {
  in_force f{.drops = o.on_error == error_policy::skip, .is_last = !o.is_part};
  f.trusts = o.trust.is_on();
  f.is_trust_decided = o.trust.is_given();
  f.rules_off = o.rules.off();
  f.rules_on = o.rules.on();
  return f;
}

/// The number of stages that rules add to a chain: parse_late and inject_prefetch add one each.
constexpr std::uint32_t kStagesAdded = 2;

/// Returns true if a rewritten plan fits the stack, too.
bool may_grow(const node& plan) { return is_plan_depth_possible(plan.depth + kStagesAdded); }

}  // namespace

std::shared_ptr<const optimized> optimize(const node_ptr& written, const optimize_options& o) {
  auto result = std::make_shared<optimized>();
  result->plan = written;
  result->advice = advice_for(*written);
  if (!o.rules.allows_any()) return result;
  if (!may_grow(*written)) {
    result->refused.push_back({"all", "the plan is as deep as the stack allows, and runs as written"});
    return result;
  }
  std::shared_ptr<const form_found> f = form_of(written, outside_of(o));
  if (f->plan) result->plan = f->plan;
  result->refused = f->notes.refused;
  result->reasons = f->notes.reasons;
  return result;
}

node_ptr optimized_plan(const node_ptr& written, const optimize_options& o) {
  if (!o.rules.allows_any() || !may_grow(*written)) return written;
  std::shared_ptr<const form_found> f = form_of(written, outside_of(o));
  return f->plan ? f->plan : written;
}

sent_rules rules_of_input(const node& n) {
  sent_rules there;
  if (!n.history || !n.history->sends) return there;
  const in_force& f = *n.history->sends;
  constexpr std::uint64_t kKnown = (std::uint64_t{1} << kRuleCount) - 1;
  there.is_on = (f.rules_off & ~kKnown) == 0;  // rule_choice::none() also names rules of later versions
  if (f.is_trust_decided) there.trusts = f.trusts;
  for (std::size_t i = 0; i != kRuleCount; ++i) {
    const std::string name(kRules[i]->info.name);
    if (f.rules_off >> i & 1 && there.is_on) there.rules.push_back(name + "=off");
    else if (!(f.rules_off >> i & 1) && (!there.is_on || f.rules_on >> i & 1)) there.rules.push_back(name + "=on");
  }
  return there;
}

optimize_options options_of(const sent_rules& there, error_policy on_error) {
  optimize_options o{.rules = there.is_on ? rule_choice() : rule_choice::none(), .on_error = on_error, .is_part = true};
  if (there.trusts) o.trust = *there.trusts;
  for (const rule* r : kRules) {
    const std::string name(r->info.name);
    if (std::ranges::find(there.rules, name + "=off") != there.rules.end()) o.rules = o.rules.without(name);
    if (std::ranges::find(there.rules, name + "=on") != there.rules.end()) o.rules = o.rules.with(name);
  }
  return o;
}

node_ptr optimized_part(const node& n, const node_ptr& part) {
  if (!n.history || !n.history->sends || !may_grow(*part)) return part;
  in_force f = *n.history->sends;
  f.is_last = false;
  std::shared_ptr<const form_found> form = form_of(part, f);
  return form->plan ? form->plan : part;
}

std::span<const std::string_view> rules_of(const node& n) {
  if (!n.history) return {};
  return n.history->rules;
}

std::span<const node_ptr> removed_after(const node& n) {
  if (!n.history) return {};
  return n.history->removed;
}

std::span<const rule_info> optimizer_rules() {
  static const std::vector<rule_info> all = [] {
    std::vector<rule_info> infos;
    for (const rule* r : kRules) infos.push_back(r->info);
    return infos;
  }();
  return all;
}

std::uint64_t bit_of_rule(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i != kRuleCount; ++i) {
    if (kRules[i]->info.name == name) return std::uint64_t{1} << i;
    absl::StrAppend(&known, i ? ", " : "", std::string(kRules[i]->info.name));
  }
  throw error(invalid_argument_error(absl::StrCat(std::string(name), " is no rule; the rules are ", known)));
}

rule_choice rule_choice::without(std::string_view rule) const {
  rule_choice c = *this;
  c.off_ |= bit_of_rule(rule);
  c.on_ &= ~c.off_;
  return c;
}

rule_choice rule_choice::with(std::string_view rule) const {
  rule_choice c = *this;
  c.off_ &= ~bit_of_rule(rule);
  c.on_ |= bit_of_rule(rule);
  return c;
}

}  // namespace sluice::lib
