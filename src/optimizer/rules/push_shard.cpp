// SPDX-License-Identifier: Apache-2.0
// push_shard: shard(n, i) moves upstream of maps and channels. There a source can leave out the elements of other shards,
// and the stages that are passed work on whole blocks.
//
// Without this rule, a shard asks its input for one element at a time and skips those between. A stage that is passed
// then has other elements with the same numbers. So it must not use their numbers, nor fail: an error names the number of
// its element. It counts all elements of its input, as before.
#include <string>

#include "optimizer/ahead.hpp"
#include "optimizer/rule.hpp"
#include "sluice/op/shard.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// Returns the reason why a shard may not move upstream of `n`; empty if it may.
/// Returns true if the stage has a channel, which requests all elements.
bool makes_all(const node& n) {
  const knob* parallelism = parallelism_of(n);
  return n.op->name == "prefetch" || (parallelism && parallelism->value != 1);
}

std::string why_no_shard_past(const node& n, const in_force& settings) {
  const stage_facts f = facts_of(n);
  if (f.outputs != output_count::one_per_input) return "does not yield one output for each input";
  if (!f.keeps_order) return f.is_live ? "delivers in sloppy order" : "changes the order";
  if (settings.is_sloppy && !f.forwards) return "delivers in sloppy order";
  if (f.has_effects) return "may have side effects";
  if (f.may_fail) return "may fail, and its errors name the numbers of its elements";
  if (f.draws || f.uses_place) return "uses the numbers of its elements";
  if (f.has_record) return "has a state that counts its elements";
  if (makes_all(n) && may_fail_within(*n.inputs[0]))
    return "works ahead, so a stage upstream of it may fail at an element that the shard leaves out";
  if (settings.drops_at(n) && !f.forwards) return "counts its own elements under on_error=skip";
  return {};
}

node_ptr shard_past(const node_ptr& n, const in_force& settings) {
  const node_ptr& in = n->inputs[0];
  if (in->op->shape != op_info::stage) return n;
  const in_force of_input = settings.upstream_of(*n);
  if (!why_no_shard_past(*in, of_input).empty()) return n;
  auto further = [&](const node_ptr& shard) { return shard_past(shard, of_input.upstream_of(*in)); };
  return exchanged_with_input(*n, push_shard.info.name, passed_counts::of_its_input, further);
}

node_ptr with_shard_pushed(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  if (n->op->name != "shard" || n->as<shard_arguments>().shards < 2) return n;
  node_ptr made = shard_past(n, settings);
  if (made != n || n->inputs[0]->op->shape != op_info::stage) return made;
  const node& in = *n->inputs[0];
  notes.refuse(push_shard.info.name, stage_text(*n) + " stays after " + stage_text(in) + ": " +
                                         std::string(in.op->name) + " " +
                                         why_no_shard_past(in, settings.upstream_of(*n)));
  return n;
}

}  // namespace

const rule push_shard{{"push_shard", "shard(n, i) moves upstream of maps and channels"}, with_shard_pushed};

}  // namespace sluice::lib
