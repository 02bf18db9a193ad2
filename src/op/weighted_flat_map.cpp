// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/weighted_flat_map.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/inner/concatenation.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"

namespace sluice::lib {
namespace {

std::vector<double> weights_of(const node& n) {
  std::vector<double> weights = n.as<weighted_flat_map_arguments>().options.weights;
  if (weights.empty()) weights.assign(n.inputs.size(), 1);
  return weights;
}

/// Returns the number of elements that each dataset delivers: all of the one that runs out first, and of the others in
/// proportion, rounded down.
std::vector<std::uint64_t> parts_of(const node& n) {
  constexpr double kRounding = 1e-12;  // makes 10 / 0.5 * 0.3 equal to 6
  const std::vector<double> weights = weights_of(n);
  std::vector<double> there;
  for (const node_ptr& input : n.inputs) there.push_back(static_cast<double>(cardinality_of(*input).elements));
  double each = there[0] / weights[0];  // for a weight of one
  for (std::size_t i = 1; i != there.size(); ++i) each = std::min(each, there[i] / weights[i]);
  std::vector<std::uint64_t> parts;
  for (std::size_t i = 0; i != there.size(); ++i) {
    const double part = each * weights[i] * (1 + kRounding);
    const auto most = static_cast<std::uint64_t>(cardinality_of(*n.inputs[i]).elements);
    const bool is_all = there[i] / weights[i] == each || part >= there[i];
    parts.push_back(is_all ? most : static_cast<std::uint64_t>(part));
  }
  return parts;
}

erased_stream open_weighted_flat_map(const node& n, open_context& context) {
  outlet out(*n.type);
  saved<concatenation_state> st;
  node combine = n;
  return concatenation_loop(out, std::move(st), std::move(combine), context, parts_of(n));
}

const element_type* flattened_type(const node& n, std::string& why) {
  auto& weights = n.as<weighted_flat_map_arguments>().options.weights;
  if (!weights.empty() && weights.size() != n.inputs.size()) {
    why = "weights are one for each dataset, and there are " + std::to_string(weights.size()) + " for " +
          std::to_string(n.inputs.size());
    return nullptr;
  }
  for (double w : weights)
    if (!(w > 0) || !std::isfinite(w)) return why = "weights are finite numbers above 0", nullptr;
  for (std::size_t i = 0; i != n.inputs.size(); ++i) {
    cardinality there = cardinality_of(*n.inputs[i]);
    if (there.kind == cardinality::exact && !there.is_most()) continue;
    why = "the number of elements of dataset " + std::to_string(i + 1) +
          (there.kind == cardinality::infinite ? " has no end: limit it with take(n)"
                                               : " is unknown: declare it with assert_cardinality(n)");
    return nullptr;
  }
  return type_of_inputs(n, n.inputs.size(), why);
}

}  // namespace

const op_info weighted_flat_map_op{
    .name = "weighted_flat_map",
    .doc = "elements of each dataset in proportion to its weight",
    .shape = op_info::combine,
    .arguments = arguments_of<weighted_flat_map_arguments>,
    .inputs_behind_list = 0,
    .type = flattened_type,
    .spec = [](const node& n) { return spec_of_inputs(n, n.inputs.size()); },
    .facts = {.always = {.forwards = true},
              .size =
                  [](const node& n) {
                    cardinality all = cardinality::of(0);
                    for (std::uint64_t part : parts_of(n)) all = all.and_then(cardinality::of_many(part));
                    return all;
                  },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::together},
    .lowering = {.open = open_weighted_flat_map},
};

node_ptr flattened_by_weight(std::vector<node_ptr> datasets, weighted_flat_map_options o) {
  return make_combine(weighted_flat_map_op, arguments::of(weighted_flat_map_arguments{std::move(o)}),
                      std::move(datasets));
}

}  // namespace sluice::lib
