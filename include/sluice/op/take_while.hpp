// SPDX-License-Identifier: Apache-2.0
// take_while: the elements before the first one for which a predicate is false.
//
//   range(10) | take_while([](std::int64_t x) { return x != 5; })      // 0 1 2 3 4
//   range(10) | take_while(expr("it != 5"))                            // an expression: plan/expression_function.hpp
//
// The predicate takes const T& and returns bool.
// Order:  as the input's.
// Ends:   with the input, or at the first element for which the predicate is false. That element is not delivered, and
//         no later element is requested. (The input may have made the rest of the same block.)
// Errors: an exception of the predicate becomes an error of stage "take_while(name)", after the elements before it.
//         Under error_policy::skip the element is dropped and counted, and the stream continues.
// State:  whether the stream has ended. Skipping elements calls the predicate.
#pragma once

#include <utility>

#include "sluice/engine/detail/predicate_verb.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info take_while_op;

struct take_while_options {
  later_seed seed = {};  ///< seed of random() in an expression; -1: from the run's seed and the site
};
struct take_while_arguments {
  function_arg<predicate_function> function = {};  ///< true: the element is delivered, and the next one is tested
  take_while_options options = {};
};

template <class F> auto take_while(F f) { return predicate_verb<take_while_op, take_while_arguments, F>(std::move(f)); }
preserving take_while(expression condition, take_while_options o = {});
SLUICE_FUNCTION_OPTIONS_IN_BRACES(preserving, take_while, take_while_options,
                                  "take_while(expr(\"random() < 0.5\"), {.seed = 7})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::take_while;

}  // namespace sluice
