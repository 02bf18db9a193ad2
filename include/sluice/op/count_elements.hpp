// SPDX-License-Identifier: Apache-2.0
// count_elements: how many elements the input has.
//
//   lines("names.txt") | filter(expr("length(it) > 0")) | count_elements()       // one int64
//
// In a task the number itself: `co_await count_elements(rt, ds)` (pipeline/one_element.hpp). What can be known without a run,
// cardinality_of(*ds.plan()) tells.
// Shape:  std::int64_t; exactly one element, also of an empty input.
// Ends:   after that one element, which is delivered when the input has ended.
// Errors: out_of_range: there are more than an int64 counts. invalid_argument, when the plan is made: the input never ends. The
//         input's elements are passed over: stages that can do so do not make them, and what is wrong with them is not seen.
// State:  whether the number was delivered. A run that resumes before that counts again. Passing over the number counts nothing.
#pragma once

#include <cstdint>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info count_elements_op;

namespace detail {
template <class> using element_count = std::int64_t;
}

verb<detail::element_count> count_elements();

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::count_elements;

}  // namespace sluice
