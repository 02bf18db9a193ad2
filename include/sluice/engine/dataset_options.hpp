// SPDX-License-Identifier: Apache-2.0
// Options that with_options sets for the stages upstream of it.
//
//   auto ds = files | map(parse, {.parallelism = 4}) | with_options({.on_error = error_policy::skip, .order = sloppy});
//   if (ds.options().order == sloppy) …
//
// A stage's own setting has precedence: `on_error` in its call, an ignore_errors between the two, `order=sloppy`.
#pragma once

#include <optional>

#include "sluice/base/error_policy.hpp"
#include "sluice/base/field_types.hpp"

namespace sluice::lib {

struct dataset_options {
  /// The effect of a bad element in stages upstream that do not set it themselves.
  std::optional<error_policy> on_error = {};
  /// With on_error=skip: the limit for all those stages together, in one run; -1: no limit.
  error_limit errors_max = {};
  /// sloppy: maps and interleaves upstream deliver first what is ready first
  std::optional<sluice::lib::order> order = {};

  /// Adds those options of `inner` that are not set here.
  void complete_by(const dataset_options& inner) {
    if (!on_error) {
      on_error = inner.on_error;
      errors_max = inner.errors_max;
    }
    if (!order) order = inner.order;
  }
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::dataset_options;

}  // namespace sluice
