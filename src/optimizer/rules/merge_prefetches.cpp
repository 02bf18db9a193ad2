// SPDX-License-Identifier: Apache-2.0
// merge_prefetches: prefetch(a) | prefetch(b) becomes prefetch(a + b). A second channel moves every block once more.
//
// A channel has no record: its position is that of its input.
#include <algorithm>
#include <cstdint>

#include "optimizer/rule.hpp"
#include "sluice/op/prefetch.hpp"

namespace sluice::lib {
namespace {

knob both(const knob& a, const knob& b) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  if (a.is_autotuned() || b.is_autotuned()) return autotune;
  const std::int64_t larger = std::max(a.value, b.value);
  return larger >= kMost ? larger : std::min(kMost, a.value + b.value);
}

node_ptr merged_prefetches(const node_ptr& n, const in_force&, rule_notes&) {
  const bool are_prefetches = n->op->name == "prefetch" && n->inputs[0]->op->name == "prefetch";
  if (!are_prefetches) return n;
  const node_ptr& inner = n->inputs[0];
  node outer = *n;
  outer.arguments = arguments::of(
      prefetch_arguments{both(inner->as<prefetch_arguments>().elements, n->as<prefetch_arguments>().elements)});
  outer.inputs = {without_stage(inner, merge_prefetches.info.name)};
  return remade(std::move(outer), merge_prefetches.info.name);
}

}  // namespace

const rule merge_prefetches{
    {"merge_prefetches", "prefetch(a) | prefetch(b) becomes prefetch(a + b)"}, merged_prefetches, [](const node& n) {
      return n.op->name == "prefetch" ? removal::with_record : removal::never;
    }};

}  // namespace sluice::lib
