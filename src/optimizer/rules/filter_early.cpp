// SPDX-License-Identifier: Apache-2.0
// filter_early: a filter whose condition reads only members that a map copies moves upstream of that map, so that the
// map works for the elements that remain.
//
//   rows | map({id, score: exp(x)}) | filter(id == 7)     becomes     rows | filter(id == 7) | map({id, score: exp(x)})
//
// The map must not fail: its errors at elements that the filter drops would disappear. It must not use the numbers of
// its elements, which are others afterwards. The filter sees the same elements with the same numbers in both places,
// so its draws and its record are the same. The map counts all elements of its input, as before.
#include <algorithm>
#include <string>
#include <utility>

#include "optimizer/rule.hpp"
#include "sluice/engine/detail/functions.hpp"
#include "sluice/op/filter.hpp"
#include "sluice/op/map.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

const stage_function& condition_of(const node& filter) { return *filter.as<filter_arguments>().function.value; }

/// Returns a member that the condition reads and the map does not copy; "the whole element"; or an empty text.
std::string computed_member(const stage_function& condition, const stage_function& mapped) {
  if (condition.reads.is_all()) return "the whole element";
  for (const std::string& name : condition.reads.names())
    if (!std::ranges::binary_search(mapped.copies, name)) return name;
  return {};
}

/// Returns the reason why a filter may not move upstream of its input; empty if it may.
std::string why_no_filter_past(const node& filter, const node& in, const in_force& settings) {
  if (in.op->name == "shuffle") return "the buffer would have other elements, and so another order";
  const stage_facts f = facts_of(in);
  if (f.may_fail) return std::string(in.op->name) + " may fail at elements that the filter drops";
  if (f.draws || f.uses_place) return std::string(in.op->name) + " uses the numbers of its elements";
  if (f.has_effects) return std::string(in.op->name) + " may have side effects";
  if (!f.keeps_order || settings.is_sloppy) return std::string(in.op->name) + " delivers in sloppy order";
  if (f.has_record || settings.drops_at(in))
    return std::string(in.op->name) + " counts its own elements under on_error=skip";
  if (facts_of(filter).may_fail && settings.drops_at(filter))
    return "it may fail, and reports a bad element as it is after " + std::string(in.op->name);
  const std::string computed = computed_member(condition_of(filter), *in.as<map_arguments>().function.value);
  if (!computed.empty()) return "it reads " + computed + ", which the map computes";
  return {};
}

bool is_expression_map(const node& n) {
  return n.op->name == "map" && n.as<map_arguments>().function.value->is_expression;
}

node_ptr filter_past(const node_ptr& n, const in_force& settings) {
  const node& in = *n->inputs[0];
  if (!is_expression_map(in) || !why_no_filter_past(*n, in, settings.upstream_of(*n)).empty()) return n;
  function_ptr condition = condition_of(*n).for_input(*in.inputs[0]->type);
  if (!condition) return n;
  node filter = *n;
  filter_arguments a = n->as<filter_arguments>();
  a.function.value = std::move(condition);
  filter.arguments = arguments::of(std::move(a));
  auto further = [&](const node_ptr& f) { return filter_past(f, settings.upstream_of(*n).upstream_of(in)); };
  return exchanged_with_input(std::move(filter), filter_early.info.name, passed_counts::of_its_input, further);
}

node_ptr with_filter_moved(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  if (n->op->name != "filter" || !condition_of(*n).is_expression) return n;
  node_ptr made = filter_past(n, settings);
  const node& in = *n->inputs[0];
  if (made != n || (!is_expression_map(in) && in.op->name != "shuffle")) return made;
  notes.refuse(filter_early.info.name, stage_text(*n) + " stays after " + stage_text(in) + ": " +
                                           why_no_filter_past(*n, in, settings.upstream_of(*n)));
  return n;
}

}  // namespace

const rule filter_early{{"filter_early", "a filter that reads only copied members moves upstream of the map"},
                        with_filter_moved};

}  // namespace sluice::lib
