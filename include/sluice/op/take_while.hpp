// SPDX-License-Identifier: Apache-2.0
// take_while: the elements in front of the first for which a predicate is false.
//
//   range(10) | take_while([](std::int64_t x) { return x != 5; })      // 0 1 2 3 4
//   range(10) | take_while(expr("it != 5"))                            // an expression: plan/expression_function.hpp
//
// The predicate takes const T& and returns bool.
// Order:  as the input's.
// Ends:   with the first element for which the predicate is false, which is not delivered; no element behind it is asked for. (The
//         input may have made some: those of the same block.) Or with the input.
// Errors: an exception of the predicate becomes an error of stage "take_while(name)", after the elements before it. Under
//         error_policy::skip the element is dropped and counted, and the stream goes on.
// State:  whether it has ended. Passing over elements calls the predicate.
#pragma once

#include <utility>

#include "sluice/engine/detail/predicate_verb.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info take_while_op;

struct take_while_options {
  later_seed seed = {};  ///< of what random() of an expression draws; -1: drawn once per run
};
struct take_while_arguments {
  function_arg<predicate_function> function = {};  ///< true: the element is delivered, and the next one looked at
  take_while_options options = {};
};

template <class F> auto take_while(F f) { return predicate_verb<take_while_op, take_while_arguments, F>(std::move(f)); }
preserving take_while(expression condition, take_while_options o = {});

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::take_while;

}  // namespace sluice
