// SPDX-License-Identifier: Apache-2.0
// enumerate: each element with its number.
//
//   lines("names.txt") | enumerate()                     // dataset<std::pair<std::int64_t, line>>: 0, 1, 2 …
//   lines("names.txt") | enumerate({.start = 1})
//
// Shape:  std::pair<std::int64_t, T>; as many elements as the input has.
// Order:  as the input's. The number of an element is its ordinal in the input plus `start`, also in a resumed run and
//         after skipped elements. Bad elements that a stage upstream has dropped are not counted.
// Ends:   with the input.
// State:  none of its own: the input's position.
#pragma once

#include <cstdint>
#include <utility>

#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info enumerate_op;

struct enumerate_options {
  std::int64_t start = 0;  ///< the first element's number; numbers wrap around after the largest
};
struct enumerate_arguments {
  enumerate_options options = {};
};

namespace detail {
template <class T> using numbered = std::pair<std::int64_t, T>;
}

verb<detail::numbered> enumerate(enumerate_options o = {});
SLUICE_OPTIONS_IN_BRACES_AFTER(verb<detail::numbered>, enumerate, enumerate_options, "enumerate({.start = 1})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::enumerate;
using lib::enumerate_options;

}  // namespace sluice
