// SPDX-License-Identifier: Apache-2.0
// drop_while: skips elements until a predicate is false, and delivers all elements from there.
//
//   range(10) | drop_while([](std::int64_t x) { return x != 5; })      // 5 6 7 8 9
//   lines("notes.txt") | drop_while(expr("it == \"\""))              // an expression: plan/expression_function.hpp
//
// The predicate takes const T& and returns bool. It is not called again after it has returned false.
// Order:  as the input's.
// Ends:   with the input.
// Errors: an exception of the predicate becomes an error of stage "drop_while(name)". Under error_policy::skip the
//         element is dropped and counted, and the next one is tested.
// State:  whether the predicate has returned false. A run that resumes before that element tests elements again. After
//         it, elements are skipped as the input skips them.
#pragma once

#include <utility>

#include "sluice/engine/detail/predicate_verb.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info drop_while_op;

struct drop_while_options {
  later_seed seed = {};  ///< seed of random() in an expression; -1: from the run's seed and the site
};
struct drop_while_arguments {
  function_arg<predicate_function> function = {};  ///< true: the element is not delivered, and the next one is tested
  drop_while_options options = {};
};

template <class F> auto drop_while(F f) { return predicate_verb<drop_while_op, drop_while_arguments, F>(std::move(f)); }
preserving drop_while(expression condition, drop_while_options o = {});
SLUICE_FUNCTION_OPTIONS_IN_BRACES(preserving, drop_while, drop_while_options,
                                  "drop_while(expr(\"random() < 0.5\"), {.seed = 7})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::drop_while;

}  // namespace sluice
