// SPDX-License-Identifier: Apache-2.0
// push_take: take(n) moves upstream of stages that yield one output per input, so that channels and readers upstream do
// not work for elements that nobody takes.
//
// Exact if each stage that is passed yields one output per input in order, drops none, and has no record: then the
// ordinals upstream and downstream of it are equal, and so are the records of take in both places. Whatever was removed
// at one of the places stays there: what follows the take then follows the passed stage, and what follows that stage
// follows its input, since the passed stage adds nothing to positions.
#include <memory>
#include <string>
#include <utility>

#include "optimizer/rule.hpp"
#include "sluice/op/take.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// Returns the reason why a take may not move upstream of `n`; empty if it may.
std::string why_not_past(const node& n, const in_force& settings) {
  const stage_facts f = facts_of(n);
  if (f.outputs != output_count::one_per_input) return "does not yield one output for each input";
  if (!f.keeps_order) return f.is_live ? "delivers in sloppy order" : "changes the order";
  if (settings.is_sloppy && !f.forwards) return "delivers in sloppy order";
  if (settings.drops_at(n) && (f.may_fail || !f.forwards)) return "may drop elements under on_error=skip";
  if (f.has_record) return "has a state that counts its elements";
  return {};
}

/// Returns `below` with the nodes that were removed downstream of it.
node_ptr with_removed(const node_ptr& below, const std::vector<node_ptr>& removed) {
  if (removed.empty()) return below;
  node copy = *below;
  std::shared_ptr<node_history> h = history_of(copy, push_take.info.name);
  h->removed.insert(h->removed.end(), removed.begin(), removed.end());
  copy.history = std::shared_ptr<const node_history>(std::move(h));
  return make_node(std::move(copy));
}

node_ptr pushed(const node_ptr& n, const in_force& settings) {
  const node_ptr& in = n->inputs[0];
  if (in->op->shape != op_info::stage) return n;
  const in_force of_input = settings.upstream_of(*n);
  if (!why_not_past(*in, of_input).empty()) return n;

  node take = *n, passed = *in;
  std::shared_ptr<node_history> of_take = history_of(take, push_take.info.name),
                                of_passed = history_of(passed, push_take.info.name);
  take.inputs = {with_removed(in->inputs[0], of_passed->removed)};
  of_passed->removed = std::exchange(of_take->removed, {});
  take.history = std::shared_ptr<const node_history>(std::move(of_take));
  passed.history = std::shared_ptr<const node_history>(std::move(of_passed));
  passed.inputs = {pushed(make_node(std::move(take)), of_input.upstream_of(*in))};
  return make_node(std::move(passed));
}

node_ptr with_take_pushed(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  if (n->op->name != "take" || n->as<take_arguments>().elements < 0) return n;
  node_ptr made = pushed(n, settings);
  if (made != n || n->inputs[0]->op->shape != op_info::stage) return made;
  const node& in = *n->inputs[0];
  notes.refuse(push_take.info.name, stage_text(*n) + " stays after " + stage_text(in) + ": " +
                                        std::string(in.op->name) + " " + why_not_past(in, settings.upstream_of(*n)));
  return n;
}

}  // namespace

const rule push_take{{"push_take", "take(n) moves upstream of one-to-one stages and channels"}, with_take_pushed};

}  // namespace sluice::lib
