// SPDX-License-Identifier: Apache-2.0
// from_tensors: a source of one element: a tensor, or a structure, pair or tuple of tensors, numbers and texts.
//
//   from_tensors(tensor::of(std::vector<float>{1, 2, 3, 4}, {2, 2}))      // dataset<tensor>
//   from_tensors(std::pair(std::int64_t{1}, std::string("x")))
//
// In plan text the value is written in the call: from_tensors([[1, 2], [3, 4]]), from_tensors({a: 1, b: "x"}),
// from_tensors(uint8([1, 2, 3])); engine/tensor_data.hpp says how values are written. The structure is then built at
// run time.
//
// Shape:  T; 1 element. A value in text is an int64, double, bool or string. A value in brackets, or with the name of a
//         dtype, is a tensor.
// Ends:   after that element.
// Errors: a plan with more than 64 KiB of tensors has no text or JSON form (failed_precondition).
// Owns:   the value, shared by all runs; each delivers tensors that share its bytes. A resume compares the value with
//         that of the checkpoint.
// State:  whether the element was delivered.
// See:    op/from_tensor_slices.hpp
#pragma once

#include <utility>

#include "sluice/engine/tensor_data.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info from_tensors_op;

struct from_tensors_arguments {
  tensor_data_arg value = {};  ///< the element: a tensor, a number, a text, or a nest of these
};

template <class T> dataset<T> from_tensors(T value) {
  static_assert(
      detail::made_of_tensors<T, true>(),
      "from_tensors: expects a tensor, an int64, double, bool or string, or a structure, pair or tuple of such; "
      "tensor::scalar(x) makes a tensor of any other number");
  return dataset<T>(from_tensors_op,
                    arguments::of(from_tensors_arguments{detail::tensor_data_of(lib::value::of(std::move(value)))}));
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::from_tensors;

}  // namespace sluice
