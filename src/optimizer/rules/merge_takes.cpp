// SPDX-License-Identifier: Apache-2.0
// merge_takes: take(a) | take(b) becomes the smaller of the two.
//
// The record of a take has the number of elements that are left, which follows from the number of those made. So the
// record of the removed take can be written without it (op/take.cpp).
#include "optimizer/rule.hpp"
#include "plan/node_history.hpp"
#include "sluice/op/take.hpp"

namespace sluice::lib {
namespace {

bool is_take(const node& n) {
  if (n.history && n.history->is_split_bound) return false;
  return n.op->name == "take" && n.as<take_arguments>().elements >= 0;
}

node_ptr merged_takes(const node_ptr& n, const in_force&, rule_notes&) {
  if (!is_take(*n) || !is_take(*n->inputs[0])) return n;
  const node_ptr& inner = n->inputs[0];
  if (inner->as<take_arguments>().elements <= n->as<take_arguments>().elements)
    return without_stage(n, merge_takes.info.name);
  node outer = *n;
  outer.inputs = {without_stage(inner, merge_takes.info.name)};
  return remade(std::move(outer), merge_takes.info.name);
}

}  // namespace

const rule merge_takes{{"merge_takes", "take(a) | take(b) becomes the smaller of the two"},
                       merged_takes,
                       [](const node& n) { return is_take(n) ? removal::with_record : removal::never; }};

}  // namespace sluice::lib
