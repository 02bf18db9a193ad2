// SPDX-License-Identifier: Apache-2.0
// window_batch: windows of consecutive elements, each a batch, stored by column.
//
//   samples | window_batch(64, {.shift = 32})                 // dataset<batched<sample>>: each row is in two batches
//   range(7) | window_batch(3, {.shift = 2, .stride = 2})     // [0,2,4] [2,4,6] [4,6] [6]
//
// Its rows are the elements of `window(size, …)`, without a list in between: window_batch(n) is batch(n).
// Shape:  batched<T>, as for batch.
// Order:  as the input's.
// Ends:   with the input. A window begins at each `shift`-th element of the input; the last windows have fewer rows,
//         or, with drop_remainder, are not delivered.
// Errors: those of window and of batch. Under error_policy::skip a window leaves out the elements that do not stack
//         with its first element; each of them is counted once for each such window. An error of the input ends the
//         stream after the windows that are complete. Elements between windows (shift > size) are skipped and not made.
//         resource_exhausted: the windows exceed the memory budget.
// Owns:   the (size - 1)·stride + 1 elements from the first to the last one of a window, and the batches that are
//         delivered. A `skip` downstream skips windows without making them. An element of several windows is copied for
//         each but the last.
// State:  none of its own: the input's position at the first element of the next window.
#pragma once

#include <optional>

#include "sluice/element/batched.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info window_batch_op;

struct window_batch_options {
  std::optional<count> shift = {};  ///< distance between the first rows of consecutive windows; not given: `size`
  count stride = 1;                 ///< distance between consecutive rows within a window
  bool drop_remainder = false;      ///< true: windows with fewer rows at the end are not delivered
};
struct window_batch_arguments {
  count size = {};  ///< number of rows in a window
  window_batch_options options = {};
};

class window_batch_verb : public stage_base_tag {
 public:
  explicit window_batch_verb(window_batch_arguments a) : arguments_(a) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (stackable<T>) {
      return dataset<batched<T>>(window_batch_op, arguments::of(arguments_), in.plan());
    } else {
      static_assert(
          detail::element_is<T>::template taken_by<window_batch_verb>,
          "window_batch: rows of this element cannot be stacked (numbers, texts, arrays and structs of them can)");
      return dataset<refused>();
    }
  }

 private:
  window_batch_arguments arguments_;
};

window_batch_verb window_batch(count size, window_batch_options o = {});
SLUICE_OPTIONS_IN_BRACES(window_batch_verb, window_batch, count, window_batch_options, "window_batch(4, {.shift = 2})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::window_batch;

}  // namespace sluice
