// SPDX-License-Identifier: Apache-2.0
// Options that with_options sets for the stages upstream of it.
//
//   auto ds = files | map(parse, {.parallelism = 4}) | with_options({.on_error = error_policy::skip, .order = sloppy});
//   if (ds.options().order == sloppy) …
//
// A stage's own setting has precedence: `on_error` in its call, an ignore_errors between the two, `order=sloppy`.
#pragma once

#include <cstdint>
#include <optional>

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

struct dataset_options {
  /// The effect of a bad element in stages upstream that do not set it themselves.
  std::optional<error_policy> on_error = {};
  /// With on_error=skip: the limit for all those stages together, in one run; -1: no limit.
  error_limit errors_max = {};
  /// sloppy: maps and interleaves upstream deliver first what is ready first
  std::optional<sluice::lib::order> order = {};
  /// false: the stages upstream, and those of their inner plans, run as written (docs/optimizer.md)
  run_switch optimize = {};

  /// Adds those options of `inner` that are not set here.
  void complete_by(const dataset_options& inner) {
    if (!on_error) {
      on_error = inner.on_error;
      errors_max = inner.errors_max;
    }
    if (!order) order = inner.order;
    if (!optimize.is_given()) optimize = inner.optimize;
  }
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::dataset_options;

}  // namespace sluice
