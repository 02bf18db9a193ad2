// SPDX-License-Identifier: Apache-2.0
// Facts about a dataset that are known without a run.
#include <algorithm>
#include <string>
#include <string_view>

#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/options_in_force.hpp"
#include "sluice/element/spec.hpp"
#include "sluice/engine/dataset_options.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

cardinality plan_holder::cardinality() const { return cardinality_of(*plan()); }
cardinality_bounds plan_holder::cardinality_limits() const { return cardinality_bounds_of(*plan()); }
spec plan_holder::element_spec() const { return element_spec_of(*plan()); }

rule_settings::rule_settings() noexcept = default;
rule_settings::rule_settings(std::initializer_list<std::string> all) : list(all) {}
rule_settings::rule_settings(const rule_settings&) = default;
rule_settings::rule_settings(rule_settings&&) noexcept = default;
rule_settings& rule_settings::operator=(const rule_settings&) = default;
rule_settings& rule_settings::operator=(rule_settings&&) noexcept = default;
rule_settings::~rule_settings() = default;

void dataset_options::complete_by(const dataset_options& inner) {
  if (!on_error) {
    on_error = inner.on_error;
    errors_max = inner.errors_max;
  }
  if (!order) order = inner.order;
  if (!optimize.is_given()) optimize = inner.optimize;
  rules.complete_by(inner.rules);
  if (!trust.is_given()) trust = inner.trust;
  if (!cpu_budget.is_given()) cpu_budget = inner.cpu_budget;
  if (!warm_start.is_given()) warm_start = inner.warm_start;
  if (!statistics.is_given()) statistics = inner.statistics;
  if (!external_state.is_given()) external_state = inner.external_state;
}

void rule_settings::complete_by(const rule_settings& inner) {
  auto name_of = [](std::string_view setting) { return setting.substr(0, setting.find('=')); };
  for (const std::string& setting : inner.list) {
    auto is_same_rule = [&](const std::string& own) { return name_of(own) == name_of(setting); };
    if (std::ranges::none_of(list, is_same_rule)) list.push_back(setting);
  }
}

dataset_options options_of(const node& plan) {
  dataset_options all;
  for (const node* n = &plan;; n = n->inputs[0].get()) {
    if (n->op->facts.options) all.complete_by(n->op->facts.options(*n));
    if (n->op->shape != op_info::stage) return all;
  }
}

bool has_options(const node& plan) {
  for (const node* n = &plan; n->op->shape == op_info::stage; n = n->inputs[0].get())
    if (n->op->facts.options) return true;
  return false;
}

dataset_options plan_holder::options() const { return options_of(*plan()); }

}  // namespace sluice::lib
