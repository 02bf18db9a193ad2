// SPDX-License-Identifier: Apache-2.0
// get_single_element: the element of an input that has exactly one.
//
//   range(5) | batch(8) | get_single_element()                       // [0, 1, 2, 3, 4]
//
// In a task, `co_await get_single_element(rt, ds)` returns the element itself (pipeline/one_element.hpp).
// Shape:  T; exactly one element.
// Ends:   after that one element, which is delivered when the input has ended.
// Errors: invalid_argument: the input has no element, or more than one. Elements after the second are not requested.
// State:  whether the element was delivered. A run that resumes before that reads the input again.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info get_single_element_op;

preserving get_single_element();

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::get_single_element;

}  // namespace sluice
