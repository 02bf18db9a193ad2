// SPDX-License-Identifier: Apache-2.0
// merge: the elements of all inputs, as they come.
//
//   merge(numbers | sleep(std::chrono::milliseconds(3)), numbers | sleep(std::chrono::milliseconds(5)))
//
// For live sources: first come, first served. An input that has to be waited for works ahead by two blocks once it has been
// passed by; the others are asked where they are.
// Shape:  the inputs' element type, which must be the same; as many elements as all of them have.
// Order:  each input's own; among them it depends on timing. Of inputs that are ready the one is next that comes after the one
//         that was served last, so none is starved.
// Ends:   when all inputs have ended.
// Errors: those of the inputs, when that input is served.
// Cancel: a stop ends the wait for the inputs.
// Owns:   two blocks of each input that had to be waited for, in a channel that is charged to the ledger.
// State:  the position of each input, and the choices since the last mark, so that a resumed run neither loses nor repeats an
//         element: it gives those in the order in which they were given, and is first come, first served again behind them.
// See:    zip (together), concatenate (one behind the other), round_robin and sample_from_datasets (in an order of their own).
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

/// Errors: invalid_argument: there is no dataset.
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

// What users write.
using lib::merge;

}  // namespace sluice
