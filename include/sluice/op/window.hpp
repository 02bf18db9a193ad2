// SPDX-License-Identifier: Apache-2.0
// window: some elements in a row become one list; then the window moves on.
//
//   range(7) | window(3)                                            // dataset<std::vector<std::int64_t>>: 0 1 2, 3 4 5, 6
//   range(7) | window(3, {.shift = 1, .drop_remainder = true})      // 0 1 2, 1 2 3, 2 3 4, 3 4 5, 4 5 6
//   range(99) | window(4, {.shift = 2, .stride = 8})                // 0 8 16 24, 2 10 18 26 …
//
// The k-th window has the elements k·shift, k·shift + stride, k·shift + 2·stride …, `size` of them. Where windows overlap, each
// has elements of its own: copies, but for the last window that an element is in. Windows that do not overlap copy nothing.
// Shape:  std::vector<T>, in T's order. Not for bool: map it to a number.
// Order:  as the input's.
// Ends:   with the input. A window begins at each `shift`-th element there is; the last ones have only those of their elements
//         that exist, or, with drop_remainder, are not given.
// Errors: an input error comes at once, behind the windows that were complete; the elements collected for the next ones are not
//         lost to a resume. Elements between windows (shift > size) are passed over and not made, so that their errors are not
//         met. invalid_argument, when the plan is made, for windows that share elements that cannot be copied. In plan text also
//         for elements of which there is no list: there are lists of numbers, texts and records. resource_exhausted when the
//         windows exceed the memory budget.
// Owns:   the (size - 1)·stride + 1 elements that a window reaches over, and the windows handed over. Records are copied out of
//         their file buffers. `skip` above it passes over windows without making them.
// State:  none of its own: the position of the next window's first element. A resume makes what follows again.
#pragma once

#include <optional>
#include <type_traits>
#include <vector>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info window_op;

struct window_options {
  std::optional<count> shift = {};  ///< from one window's first element to the next one's; not given: as many as `size`
  count stride = 1;                 ///< from one element to the next within a window
  bool drop_remainder = false;      ///< windows that lack elements at the end are dropped
};
struct window_arguments {
  count size = {};  ///< elements of a window
  window_options options = {};
};

class window_verb : public stage_base_tag {
 public:
  explicit window_verb(window_arguments a) : arguments_(a) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (std::is_same_v<T, bool>) {
      static_assert(detail::element_is<T>::template taken_by<window_verb>,
                    "window: std::vector<bool> is no list of elements; map them to numbers first");
      return dataset<refused>();
    } else {
      type_of<std::vector<T>>();  // from now on plans have it as the list of T
      return dataset<std::vector<T>>(make_stage(window_op, arguments::of(arguments_), in.plan()));
    }
  }

 private:
  window_arguments arguments_;
};

inline window_verb window(count size, window_options o = {}) { return window_verb(window_arguments{size, o}); }

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::window;
using lib::window_options;

}  // namespace sluice
