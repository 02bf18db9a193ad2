// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/round_robin.hpp"

#include <span>
#include <string>
#include <utility>

#include "engine/inner/mixing.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"

namespace sluice::lib {
namespace {

std::size_t next_turns(const mixing_state& s, std::span<std::uint32_t> to, status&) {
  std::uint64_t at = s.last;
  for (std::uint32_t& chosen : to) {
    while (s.has_ended(at % s.ended.size())) ++at;
    chosen = static_cast<std::uint32_t>(at++ % s.ended.size());
  }
  return to.size();
}

erased_stream open_round_robin(const node& n, open_context& context) {
  outlet out(*n.type);
  saved<mixing_state> st;
  return mixing_loop(out, std::move(st), context.open_inputs(n), next_turns,
                     n.as<round_robin_arguments>().options.stop_on_empty_dataset, context.gate(n));
}

/// Returns the sum of all sizes. With stop_on_empty_dataset: the full rounds of the shortest dataset, and a part of
/// one.
cardinality round_robin_size(const node& n) {
  const bool stops = n.as<round_robin_arguments>().options.stop_on_empty_dataset;
  cardinality all = stops ? cardinality::forever() : cardinality::of(0);
  for (std::size_t i = 0; i != n.inputs.size(); ++i) {
    cardinality one = cardinality_of(*n.inputs[i]);
    if (!stops) {
      all = all.and_then(one);
      continue;
    }
    if (one.kind == cardinality::unknown) return one;
    if (one.kind == cardinality::infinite) continue;
    cardinality until =
        one.times(static_cast<std::int64_t>(n.inputs.size())).and_then(cardinality::of(static_cast<std::int64_t>(i)));
    all = all.kind == cardinality::infinite ? until : all.at_most(until.elements);
  }
  return all;
}

}  // namespace

const op_info round_robin_op{
    .name = "round_robin",
    .doc = "one element of each dataset, alternately",
    .shape = op_info::combine,
    .arguments = arguments_of<round_robin_arguments>,
    .inputs_behind_list = 0,
    .type = [](const node& n, std::string& why) { return type_of_inputs(n, n.inputs.size(), why); },
    .spec = [](const node& n) { return spec_of_inputs(n, n.inputs.size()); },
    .facts = {.always = {.forwards = true, .may_fail = false}, .size = round_robin_size},
    .splits = {.rule = split_rule::together},
    .lowering = {.open = open_round_robin},
};

node_ptr taken_by_turns(std::vector<node_ptr> datasets, round_robin_options o) {
  return make_combine(round_robin_op, arguments::of(round_robin_arguments{o}), std::move(datasets));
}

}  // namespace sluice::lib
