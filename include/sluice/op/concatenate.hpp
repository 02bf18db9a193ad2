// SPDX-License-Identifier: Apache-2.0
// concatenate: all elements of the first input, then all of the next, and so on.
//
//   concatenate(tfrecord("old"), tfrecord("new")) | shuffle(1000)
//
// One input is open at a time: it is closed, with its buffers and files, before the next one is opened.
// Shape:  the inputs' element type, which must be the same. The number of elements is the sum of the inputs' numbers.
// Order:  each input's own order, one input after the other.
// Ends:   with the last input.
// Errors: those of the inputs; after an error the inputs that follow are not opened. invalid_argument, when the plan is
//         built: tensors of the inputs are known to have different dtypes; their shapes may differ.
// State:  the index of the open input, and its position.
#pragma once

#include <type_traits>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info concatenate_op;

namespace detail {
/// Always false. It is the condition of a static_assert, so that the first line of the error shows the inputs' types.
template <class... T> struct inputs_of {
  static constexpr bool have_one_type = false;
};
}  // namespace detail

/// Errors: invalid_argument: the plan would be too deep.
template <class T, class Next, class... More>
auto concatenate(const dataset<T>& first, const dataset<Next>& second, const dataset<More>&... more) {
  if constexpr (std::is_same_v<T, Next> && (std::is_same_v<T, More> && ...)) {
    return dataset<T>(
        make_combine(concatenate_op, arguments::of(no_arguments{}), {first.plan(), second.plan(), more.plan()...}));
  } else {
    static_assert(detail::inputs_of<T, Next, More...>::have_one_type, "concatenate: the inputs must have one type");
    return dataset<refused>();
  }
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::concatenate;

}  // namespace sluice
