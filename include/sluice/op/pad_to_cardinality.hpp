// SPDX-License-Identifier: Apache-2.0
// pad_to_cardinality: elements that say they are not valid follow the input's, up to n in all.
//
//   checked_samples | pad_to_cardinality(1000)                       // a struct with `bool valid`, which is set
//   range(3) | pad_to_cardinality(4)                                 // (0, true) (1, true) (2, true) (0, false)
//
// So the last batches of an epoch are as large on every machine, and whoever computes means leaves out what is not valid.
// Shape:  a struct gets the member `mask_key`, a bool: true for the input's elements, false for those that are added. One that
//         has it already (in C++ it has to) keeps its type, and what it said is replaced. Elements without named members become
//         pairs of themselves and the bool. n elements. What is added is value-initialised: zeros, empty texts and lists, a
//         struct's own defaults. A tensor that is added has zeros, or empty texts, in the dtype and the shape of the last valid
//         element's, so that all of them stack; without a valid element it is empty.
// Order:  as the input's.
// Ends:   after n elements.
// Errors: invalid_argument, when the plan is made: the input is known to have more than n elements, none of which can be dropped
//         by an ignore_errors, or never ends; `mask_key` names a member that is no bool; the elements cannot be made without a
//         value. failed_precondition, in a run: the input has more elements, after the first n. A consumer that asks for no more
//         is not told.
// State:  how many were added, and the input's position; of tensors that of the last valid element, which is made again.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info pad_to_cardinality_op;

struct pad_to_cardinality_options {
  std::string mask_key = "valid";  ///< the member that tells the input's elements from those that are added
};
struct pad_to_cardinality_arguments {
  integer elements = {};  ///< in all; at least 0
  pad_to_cardinality_options options = {};
};

namespace detail {
/// A class whose members a plan knows by their names, and may add one to.
template <class T>
inline constexpr bool is_structure = reflectable<T> && !names_itself<T> && !is_tensor<T> && !is_whole<T>;
/// The plan, whose elements have to be of the type T of the program.
node_ptr padded_in_place(const node_ptr& in, const pad_to_cardinality_arguments& a);
}  // namespace detail

class pad_to_cardinality_verb : public stage_base_tag {
 public:
  explicit pad_to_cardinality_verb(pad_to_cardinality_arguments a) : arguments_(std::move(a)) {}
  /// Errors: invalid_argument also where T is a struct without the member.
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

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::pad_to_cardinality;
using lib::pad_to_cardinality_options;

}  // namespace sluice
