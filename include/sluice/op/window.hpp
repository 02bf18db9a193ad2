// SPDX-License-Identifier: Apache-2.0
// window: lists of consecutive elements; each list begins a given number of elements after the one before.
//
//   range(7) | window(3)                                            // dataset<std::vector<std::int64_t>>: 0 1 2, 3 4 5, 6
//   range(7) | window(3, {.shift = 1, .drop_remainder = true})      // 0 1 2, 1 2 3, 2 3 4, 3 4 5, 4 5 6
//   range(99) | window(4, {.shift = 2, .stride = 8})                // 0 8 16 24, 2 10 18 26 …
//
// The k-th window has the elements k·shift, k·shift + stride, k·shift + 2·stride …, `size` of them. An element that
// belongs to several windows is moved into the last of them and copied into the others. Windows that do not overlap
// copy nothing.
// Shape:  std::vector<T>, in T's order. In C++ T is not bool, because std::vector<bool> has no references to its items:
//         map it to a number. Plan text allows lists of any elements: also of bools, structures, tensors, batches and
//         optionals.
// Order:  as the input's.
// Ends:   with the input. A window begins at each `shift`-th element of the input; the last windows have fewer
//         elements, or, with drop_remainder, are not delivered.
// Errors: an error of the input ends the stream after the windows that are complete; a run that resumes from the last
//         position reads the elements of the others again. Elements between windows (shift > size) are skipped and not
//         made, so their errors are not noticed. invalid_argument when the plan is built: windows overlap, and elements
//         cannot be copied. resource_exhausted: the windows exceed the memory budget.
// Owns:   the (size - 1)·stride + 1 elements from the first to the last one of a window, and the windows that are
//         delivered. Records are copied out of their file buffers. A `skip` downstream skips windows without making
//         them.
// State:  none of its own: the input's position at the first element of the next window.
#pragma once

#include <optional>
#include <type_traits>
#include <vector>

#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info window_op;

struct window_options {
  std::optional<count> shift = {};  ///< distance between the first elements of consecutive windows; not given: `size`
  count stride = 1;                 ///< distance between consecutive elements within a window
  bool drop_remainder = false;      ///< true: windows with fewer elements at the end are not delivered
};
struct window_arguments {
  count size = {};  ///< number of elements in a window
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
      type_of<std::vector<T>>();  // makes the descriptor, so that list_of() finds it
      return dataset<std::vector<T>>(window_op, arguments::of(arguments_), in.plan());
    }
  }

 private:
  window_arguments arguments_;
};

inline window_verb window(count size, window_options o = {}) { return window_verb(window_arguments{size, o}); }
SLUICE_OPTIONS_IN_BRACES(window_verb, window, count, window_options, "window(4, {.shift = 2})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::window;
using lib::window_options;

}  // namespace sluice
