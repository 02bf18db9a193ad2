// SPDX-License-Identifier: Apache-2.0
// Options that with_options sets for the stages upstream of it, and for the runs of the plan.
//
//   auto ds = files | map(parse, {.parallelism = 4}) | with_options({.on_error = error_policy::skip, .order = sloppy});
//   auto two = ds | with_options({.rules = {"inject_prefetch=on"}, .cpu_budget = 2});
//   if (two.options().order == sloppy) …                                             // the options of both calls
//
// If several calls set one option, the one furthest downstream decides, and the run's own options come before all of
// them (iterate_options). A stage's own setting has precedence: `on_error` in its call, an ignore_errors between the two,
// `order=sloppy`.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/error_policy.hpp"
#include "sluice/base/field_types.hpp"

namespace sluice::lib {

/// true, false, or not given. Never a part of fingerprints, since it changes no elements.
struct run_switch {
  enum state : std::uint8_t { not_given, off, on } value = not_given;
  constexpr run_switch() = default;
  constexpr run_switch(bool is_on) : value(is_on ? on : off) {}  // NOLINT: true and false are written as they are
  constexpr bool is_given() const { return value != not_given; }
  constexpr bool is_on() const { return value == on; }
};

/// Rules of the optimizer by name, each with its switch: "push_take=off", "inject_prefetch=on" (docs/optimizer.md). Never
/// a part of fingerprints.
struct rule_settings {
  std::vector<std::string> list;
  rule_settings() noexcept;
  rule_settings(std::initializer_list<std::string> all);
  rule_settings(const rule_settings& other);
  rule_settings(rule_settings&& other) noexcept;
  rule_settings& operator=(const rule_settings& other);
  rule_settings& operator=(rule_settings&& other) noexcept;
  ~rule_settings();
  /// Adds the settings of `inner` for rules without one here.
  void complete_by(const rule_settings& inner);
};

/// A number of workers ≥ 1, or not given. Never a part of fingerprints.
struct worker_limit {
  std::int64_t value = 0;
  constexpr worker_limit() = default;
  constexpr worker_limit(std::int64_t v) : value(v), is_given_(true) {}  // NOLINT: numbers are written as numbers
  constexpr bool is_given() const { return is_given_; }

 private:
  bool is_given_ = false;
};

/// An external_state, or not given. Never a part of fingerprints. It costs a program a hundred template instantiations
/// fewer than std::optional.
struct external_state_setting {
  external_state value = external_state::warn;
  constexpr external_state_setting() = default;
  constexpr external_state_setting(external_state s) : value(s), is_given_(true) {}  // NOLINT: written as an enumerator
  constexpr bool is_given() const { return is_given_; }
  constexpr external_state value_or(external_state other) const { return is_given_ ? value : other; }

 private:
  bool is_given_ = false;
};

struct dataset_options {
  /// The effect of a bad element in stages upstream that do not set it themselves.
  std::optional<error_policy> on_error = {};
  /// With on_error=skip: the limit for all those stages together, in one run; -1: no limit.
  error_limit errors_max = {};
  /// sloppy: maps and interleaves upstream deliver first what is ready first
  std::optional<sluice::lib::order> order = {};
  /// false: the stages upstream, and those of their inner plans, run as written (docs/optimizer.md)
  run_switch optimize = {};
  /// Rules that are on or off for the stages upstream, and those of their inner plans
  rule_settings rules = {};
  /// true: values that nothing downstream reads are not checked where a rule leaves them out (iterate_options::trust)
  run_switch trust = {};

  // Options of the whole run. They have no effect in inner plans and in inputs of a stage with several inputs.

  /// The number of workers on which the coroutines of a run work at a time (iterate_options::cpu_budget)
  worker_limit cpu_budget = {};
  /// true: channels are filled before the first request (iterate_options::warm_start)
  run_switch warm_start = {};
  /// false: stages neither count nor time their elements (iterate_options::statistics)
  run_switch statistics = {};
  /// The reaction to checkpoints that cannot compare some functions or data (iterate_options::external_state)
  external_state_setting external_state = {};

  /// Adds those options of `inner` that are not set here.
  void complete_by(const dataset_options& inner);
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::dataset_options;

}  // namespace sluice
