// SPDX-License-Identifier: Apache-2.0
// pad_to_cardinality: appends invalid elements until there are n, and marks each element as valid or invalid.
//
//   checked_samples | pad_to_cardinality(1000)                       // a struct with `bool valid`, which is set
//   range(3) | pad_to_cardinality(4)                                 // (0, true) (1, true) (2, true) (0, false)
//
// With it the last batches of an epoch have the same size on every machine; a program that computes means ignores the
// invalid elements.
// Shape:  n elements. A struct gets a bool member `mask_key`: true for the input's elements, false for added elements.
//         If the struct already has that member (in C++ it must have it), its type stays the same, and the member's
//         value is replaced. Elements without named members become pairs of the element and the bool. Added elements
//         are value-initialized: zeros, empty texts and lists, a struct's own defaults. A tensor in an added element
//         has zeros, or empty texts, in the dtype and shape of the last valid element's tensor, so that all of them
//         stack. Without a valid element it is empty.
// Order:  as the input's.
// Ends:   after n elements.
// Errors: invalid_argument, when the plan is built: the input is known to have more than n elements, none of which an
//         ignore_errors can drop, or never ends; `mask_key` names a member that is not a bool; the elements cannot be
//         built without a value. failed_precondition, in a run, after the first n elements: the input has more
//         elements. A consumer that requests only n elements does not see this error.
// State:  the number of elements added, and the input's position; with tensors the position of the last valid element,
//         which is made again.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info pad_to_cardinality_op;

struct pad_to_cardinality_options {
  std::string mask_key = "valid";  ///< the member that separates the input's elements from added elements
};
struct pad_to_cardinality_arguments {
  integer elements = {};  ///< total number of elements; at least 0
  pad_to_cardinality_options options = {};
};

namespace detail {
/// A class whose members a plan knows by name, and to which it may add one.
template <class T>
inline constexpr bool is_structure = reflectable<T> && !names_itself<T> && !is_tensor<T> && !is_whole<T>;
/// Builds the plan; its elements must be of the type T of the program.
node_ptr padded_in_place(const node_ptr& in, const pad_to_cardinality_arguments& a);
}  // namespace detail

class pad_to_cardinality_verb : public stage_base_tag {
 public:
  explicit pad_to_cardinality_verb(pad_to_cardinality_arguments a) : arguments_(std::move(a)) {}
  /// Errors: also invalid_argument if T is a struct without the member.
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (detail::is_structure<T>) {
      return dataset<T>(detail::padded_in_place(in.plan(), arguments_));
    } else {
      type_of<std::pair<T, bool>>();
      return dataset<std::pair<T, bool>>(pad_to_cardinality_op, arguments::of(arguments_), in.plan());
    }
  }

 private:
  pad_to_cardinality_arguments arguments_;
};

inline pad_to_cardinality_verb pad_to_cardinality(integer elements, pad_to_cardinality_options o = {}) {
  return pad_to_cardinality_verb(pad_to_cardinality_arguments{elements, std::move(o)});
}
SLUICE_OPTIONS_IN_BRACES(pad_to_cardinality_verb, pad_to_cardinality, integer, pad_to_cardinality_options,
                         "pad_to_cardinality(10, {.mask_key = \"valid\"})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::pad_to_cardinality;
using lib::pad_to_cardinality_options;

}  // namespace sluice
