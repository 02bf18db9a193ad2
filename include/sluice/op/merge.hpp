// SPDX-License-Identifier: Apache-2.0
// merge: the elements of all inputs, in the order in which they become available.
//
//   merge(numbers | sleep(std::chrono::milliseconds(3)), numbers | sleep(std::chrono::milliseconds(5)))
//
// Use it for live sources: first come, first served. An input that is not ready when its turn comes works ahead by two
// blocks from then on; all other inputs are read on demand.
// Shape:  the inputs' element type, which must be the same. The number of elements is the sum of the inputs' numbers.
// Order:  each input's own; the order among inputs depends on timing. If several inputs are ready, the one that follows
//         the input served last is next, so no input is starved.
// Ends:   when all inputs have ended.
// Errors: the errors of the inputs, when that input is served.
// Cancel: a stop ends the wait for the inputs.
// Owns:   two blocks of each input that was not ready, in a channel that is charged to the ledger.
// State:  the position of each input, and the choices since the last mark, so that a resumed run neither loses nor
//         repeats an element. The run repeats these choices, and after them serves inputs as they become available.
// See:    zip (together), concatenate (one after the other), round_robin and sample_from_datasets (in an order of their
//         own).
#pragma once

#include <type_traits>
#include <vector>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info merge_op;

namespace detail {
/// Always false: the condition of a static_assert, so that the first line of the error shows the inputs' types.
template <class... T> struct merged {
  static constexpr bool have_one_type = false;
};
}  // namespace detail

/// Errors: invalid_argument: the list of datasets is empty.
template <class T> dataset<T> merge(const std::vector<dataset<T>>& inputs) {
  return dataset<T>(make_combine(merge_op, arguments::of(no_arguments{}), plans_of(inputs)));
}
template <class T, class Next, class... More>
auto merge(const dataset<T>& first, const dataset<Next>& second, const dataset<More>&... more) {
  if constexpr (std::is_same_v<T, Next> && (std::is_same_v<T, More> && ...)) {
    return merge(std::vector<dataset<T>>{first, second, more...});
  } else {
    static_assert(detail::merged<T, Next, More...>::have_one_type, "merge: the inputs must have one type");
    return dataset<refused>();
  }
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::merge;

}  // namespace sluice
