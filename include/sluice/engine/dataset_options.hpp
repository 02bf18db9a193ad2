// SPDX-License-Identifier: Apache-2.0
// What with_options says of the stages upstream of it.
//
//   auto ds = files | map(parse, {.parallelism = 4}) | with_options({.on_error = error_policy::skip, .order = sloppy});
//   if (ds.options().order == sloppy) …
//
// What a stage says itself comes before this: `on_error` in its call, an ignore_errors between the two, `order=sloppy`.
#pragma once

#include <optional>

#include "sluice/base/error_policy.hpp"
#include "sluice/base/field_types.hpp"

namespace sluice::lib {

struct dataset_options {
  /// what a bad element does in stages upstream that do not say so themselves
  std::optional<error_policy> on_error = {};
  error_limit errors_max = {};  ///< with on_error=skip: of all those stages together, in one run; -1: any number
  /// sloppy: maps and interleaves upstream deliver what is ready first
  std::optional<sluice::lib::order> order = {};

  /// Those of `inner` that are not given here.
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
