// SPDX-License-Identifier: Apache-2.0
// drop_while: the elements from the first on for which a predicate is false.
//
//   range(10) | drop_while([](std::int64_t x) { return x != 5; })      // 5 6 7 8 9
//   lines("notes.txt") | drop_while(expr("it == \"\""))              // an expression: plan/expression_function.hpp
//
// The predicate takes const T& and returns bool. It is not called again once it was false.
// Order:  as the input's.
// Ends:   with the input.
// Errors: an exception of the predicate becomes an error of stage "drop_while(name)". Under error_policy::skip the element is
//         dropped and counted, and the next one looked at.
// State:  whether the predicate was false. A run that goes on in front of that element looks at elements again; behind it elements
//         are passed over as the input does.
#pragma once

#include <utility>

#include "sluice/engine/detail/predicate_verb.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info drop_while_op;

struct drop_while_options {
  later_seed seed = {};  ///< of what random() of an expression draws; -1: drawn once per run
};
struct drop_while_arguments {
  function_arg<predicate_function> function = {};  ///< true: the element is not delivered, and the next one looked at
  drop_while_options options = {};
};

template <class F> auto drop_while(F f) { return predicate_verb<drop_while_op, drop_while_arguments, F>(std::move(f)); }
preserving drop_while(expression condition, drop_while_options o = {});

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::drop_while;

}  // namespace sluice
