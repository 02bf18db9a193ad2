// SPDX-License-Identifier: Apache-2.0
// push_take: take(n) moves upstream of stages that yield one output per input, so that channels and readers upstream do
// not work for elements that nobody takes.
//
// Exact if each stage that is passed yields one output per input in order, drops none, and has no record: then the
// ordinals upstream and downstream of it are equal, and so are the records of take in both places.
#include <string>

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

node_ptr pushed(const node_ptr& n, const in_force& settings) {
  const node_ptr& in = n->inputs[0];
  if (in->op->shape != op_info::stage) return n;
  const in_force of_input = settings.upstream_of(*n);
  if (!why_not_past(*in, of_input).empty()) return n;
  auto further = [&](const node_ptr& take) { return pushed(take, of_input.upstream_of(*in)); };
  return exchanged_with_input(*n, push_take.info.name, passed_counts::own, further);
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
