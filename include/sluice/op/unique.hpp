// SPDX-License-Identifier: Apache-2.0
// unique: each element once, where it stands first.
//
//   range(6) | map(expr<std::int64_t>("it % 3")) | unique()           // 0 1 2
//   list_files("*/*.txt") | map(expr<std::string>("split(it, \"/\")[1]")) | unique()
//
// Elements are equal where their values are: numbers, texts, lists, structs, tensors, and all that is made of these. Numbers with a
// fraction are compared by their bits: 0.0 and -0.0 are two, and a NaN is itself. Of each element but a number 128 bits of a hash are
// kept, and not the element: two that differ are taken for equal with a probability of 10^-20 in a stream of ten billion.
// Order:  as the input's; of equal elements the first is delivered.
// Ends:   with the input.
// Errors: invalid_argument, when the plan is made: these elements cannot be compared (classes that describe themselves, others whose
//         contents the library does not know). resource_exhausted: the hashes exceed the memory budget; the message says how many.
// Owns:   17 to 40 bytes for each element that it has delivered.
// State:  how many elements were delivered. A run that resumes reads the input again, and delivers none of those.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info unique_op;

preserving unique();

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::unique;

}  // namespace sluice
