// SPDX-License-Identifier: Apache-2.0
// filter: the elements for which a predicate returns true.
//
//   numbers | filter([](std::int64_t x) { return x % 2 == 0; })
//   samples | filter(expr("label != 0 && random() < 0.1"), {.seed = 7})       // an expression: plan/expression_function.hpp
//
// The predicate takes const T& and returns bool.
// Order:  as the input's.
// Errors: an exception of the predicate becomes an error of stage "filter(name)", after the elements before it. Under
//         error_policy::skip the element is dropped and counted.
// State:  none of its own. Skipping elements calls the predicate, because only the predicate determines which elements
//         count.
#pragma once

#include <utility>

#include "sluice/engine/detail/predicate_verb.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info filter_op;

struct filter_options {
  later_seed seed = {};  ///< seed of random() in an expression; -1: from the run's seed and the site
};
struct filter_arguments {
  function_arg<predicate_function> function = {};  ///< true: the element is kept
  filter_options options = {};
};

template <class F> auto filter(F f) { return predicate_verb<filter_op, filter_arguments, F>(std::move(f)); }
preserving filter(expression condition, filter_options o = {});
SLUICE_FUNCTION_OPTIONS_IN_BRACES(preserving, filter, filter_options, "filter(expr(\"random() < 0.5\"), {.seed = 7})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::filter;

}  // namespace sluice
