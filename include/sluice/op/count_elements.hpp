// SPDX-License-Identifier: Apache-2.0
// count_elements: how many elements the input has.
//
//   lines("names.txt") | filter(expr("length(it) > 0")) | count_elements()       // one int64
//
// In a task, `co_await count_elements(rt, ds)` returns the number itself (pipeline/one_element.hpp).
// cardinality_of(*ds.plan()) returns the number if it is known without a run.
// Shape:  std::int64_t; exactly one element, even if the input is empty.
// Ends:   after that one element, which is delivered when the input has ended.
// Errors: out_of_range: the count does not fit into an int64. invalid_argument, when the plan is built: the input never
//         ends. The input's elements are skipped: stages that can skip do not make them, so their errors are not
//         noticed.
// State:  whether the number was delivered. A run that resumes before that counts again. Skipping the number counts
//         nothing.
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

// The public names.
using lib::count_elements;

}  // namespace sluice
