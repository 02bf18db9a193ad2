// SPDX-License-Identifier: Apache-2.0
// fuse_expressions: neighboring maps and filters whose functions are expressions run as one stage. A block is computed in
// one pass: numbers between the functions are never stored, a structure that the next function reads is never built,
// and common parts are computed once.
//
// The nodes stay in the plan, because each keeps its errors, counts and record. The rule only marks each node that joins
// the stage of its input. engine/lowering/fused_stage.hpp runs them, and explains what makes it exact.
#include <memory>
#include <string>
#include <utility>

#include "engine/lowering/fused_stage.hpp"
#include "optimizer/rule.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// Returns the reason why the work of `n` stays apart; empty if it may be fused.
std::string why_apart(const node& n, const in_force& settings) {
  if (settings.drops_at(n)) return "may drop elements under on_error=skip";
  if (settings.is_sloppy) return "delivers in sloppy order";
  return why_not_fused(n);
}

/// Returns true for a filter that has its source skip elements which cost more than a part of a fused pass.
bool selects_costly(const node& n) { return n.history && n.history->selects_by_number && n.type->kind != kind::scalar; }

node_ptr fused(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  if (n->op->shape != op_info::stage || !is_fusable(*n) || !is_fusable(*n->inputs[0])) return n;
  if (n->history && n->history->joins_input) return n;
  const node& in = *n->inputs[0];
  const node* apart = &in;
  std::string why = why_apart(in, settings.upstream_of(*n));
  if (why.empty() && selects_costly(in)) why = "runs before its source reads the elements";
  if (why.empty()) {
    apart = n.get();
    why = why_apart(*n, settings);
  }
  if (why.empty()) why = why_not_joined(*n);
  if (!why.empty()) {
    notes.refuse(fuse_expressions.info.name, stage_text(*n) + " is not computed together with " + stage_text(in) +
                                                 ": " + std::string(apart->op->name) + " " + why);
    return n;
  }
  node joined = *n;
  std::shared_ptr<node_history> h = history_of(joined, fuse_expressions.info.name);
  h->joins_input = true;
  joined.history = std::shared_ptr<const node_history>(std::move(h));
  return make_node(std::move(joined));
}

}  // namespace

const rule fuse_expressions{
    {"fuse_expressions", "neighboring maps and filters by expressions run as one stage, in one pass"}, fused};

}  // namespace sluice::lib
