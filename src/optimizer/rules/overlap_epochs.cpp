// SPDX-License-Identifier: Apache-2.0
// overlap_epochs: the last shuffle upstream of a repeat fills its buffer for the next epoch while it empties at the end of
// this one.
//
//   lines("a") | shuffle(10000) | repeat()
//
// As written, the buffer empties at the end of an epoch, and the consumer then waits until 10,000 elements of the next
// epoch have been read. With the rule one element of the next epoch is read for each one that leaves, as before the end.
// The text of the plan stays the same. The draws of an epoch use its number, and the elements of two epochs never mix, so
// elements and positions are those of the plan as written. An error of the next epoch waits in its input until that
// epoch begins (op/shuffle/next_buffer.hpp).
//
// The rule must be chosen, because elements of an epoch are read that nobody may request. So the conditions are those of
// stages that work ahead (optimizer/ahead.hpp).
#include <string>

#include "optimizer/ahead.hpp"
#include "optimizer/rule.hpp"
#include "sluice/op/repeat.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

bool repeats(const node& n) {
  return n.op->name == "repeat" && n.as<repeat_arguments>().times != 0 && n.as<repeat_arguments>().times != 1;
}

/// The last shuffle upstream of a repeat, in the chain that is opened once for each epoch.
struct repeated_shuffle {
  const node* shuffle = nullptr;     ///< null: there is none
  const node* ends_early = nullptr;  ///< a stage between the two that may end before the shuffle has
  in_force settings;                 ///< those in force at the shuffle
};

/// Returns true if the stage reads its input to its end, whatever the elements are.
bool reads_to_the_end(const node& n) {
  return facts_of(n).outputs != output_count::any && n.op->name != "take" && n.op->name != "take_while";
}

repeated_shuffle last_shuffle(const node& repeat, const in_force& settings) {
  repeated_shuffle found{.settings = settings};
  for (const node* at = &repeat; at->op->shape == op_info::stage;) {
    found.settings = found.settings.upstream_of(*at);
    at = at->inputs[0].get();
    if (at->op->name == "shuffle") {
      found.shuffle = at;
      break;
    }
    if (at->op->facts.opens_input_again) break;
    if (!reads_to_the_end(*at)) found.ends_early = at;
  }
  return found;
}

std::string why_epochs_apart(const repeated_shuffle& found) {
  if (found.ends_early) return stage_text(*found.ends_early) + " may end an epoch before the shuffle has";
  return why_not_ahead(*found.shuffle, found.settings);
}

/// Returns a copy of the chain from `n` to the shuffle, with both ends marked.
node_ptr marked(const node& n, const node& shuffle, bool is_end) {
  node copy = n;
  if (&n != &shuffle) copy.inputs = {marked(*n.inputs[0], shuffle, n.inputs[0].get() == &shuffle)};
  if (!is_end) return make_node(std::move(copy));
  std::shared_ptr<node_history> h = history_of(copy, overlap_epochs.info.name);
  h->overlaps_epochs = true;
  copy.history = std::shared_ptr<const node_history>(std::move(h));
  return make_node(std::move(copy));
}

node_ptr with_overlap(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  if (!repeats(*n) || settings.is_inner || (n->history && n->history->overlaps_epochs)) return n;
  const repeated_shuffle found = last_shuffle(*n, settings);
  if (!found.shuffle || cardinality_of(*found.shuffle->inputs[0]).kind == cardinality::infinite) return n;
  if (std::string why = why_epochs_apart(found); !why.empty()) {
    notes.refuse(overlap_epochs.info.name,
                 stage_text(*found.shuffle) + " reads nothing of the next epoch early: " + why);
    return n;
  }
  return marked(*n, *found.shuffle, true);
}

}  // namespace

const rule overlap_epochs{
    {"overlap_epochs", "shuffle before repeat fills its buffer for the next epoch while it empties", true},
    with_overlap};

}  // namespace sluice::lib
