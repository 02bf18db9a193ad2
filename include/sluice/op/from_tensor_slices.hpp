// SPDX-License-Identifier: Apache-2.0
// from_tensor_slices: a source of the slices of tensors along their first dimension.
//
//   from_tensor_slices(tensor::make(dtype::float32, {60'000, 28, 28}))    // 60,000 tensors of float32[28,28]
//   from_tensor_slices<std::int64_t>(tensor::of(std::vector<std::int64_t>{3, 1, 2}))    // dataset<std::int64_t>
//   from_tensor_slices(std::pair(tensor::zeros(dtype::uint8, {5, 3}), tensor::zeros(dtype::int64, {5})))
//
// In plan text: from_tensor_slices([3, 1, 2]), from_tensor_slices({x: [[1, 2], [3, 4]], y: ["a", "b"]}),
// from_tensor_slices(uint8([[1, 2], [3, 4]])); engine/tensor_data.hpp says how values are written.
//
// Shape:  T, each tensor with one dimension less; exact cardinality, the first dimension of all tensors. The slices of
//         a one-dimensional tensor have no dimensions. In text without a dtype's name, and with <T>, they are int64,
//         double, bool or string values.
// Order:  the order of the slices in the tensors.
// Errors: invalid_argument, when the plan is built: a tensor has no dimensions, or first dimensions differ. A plan with
//         more than 64 KiB of tensors has no text or JSON form (failed_precondition).
// Owns:   the tensors, shared by all runs; slices are views that share their bytes. A resume compares the tensors with
//         those of the checkpoint.
// State:  the number of slices delivered. Skipping costs nothing.
// See:    op/from_tensors.hpp, op/from_elements.hpp
#pragma once

#include <utility>

#include "sluice/engine/tensor_data.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info from_tensor_slices_op;

struct from_tensor_slices_arguments {
  tensor_data_arg tensors = {};  ///< a tensor of one dimension or more, or a nest of such tensors
};

/// A tensor, or a structure, pair or tuple of tensors.
template <class T> dataset<T> from_tensor_slices(T tensors) {
  static_assert(
      detail::made_of_tensors<T, false>(),
      "from_tensor_slices: expects a tensor, or a structure, pair or tuple of tensors; from_elements takes a vector");
  return dataset<T>(
      from_tensor_slices_op,
      arguments::of(from_tensor_slices_arguments{detail::tensor_data_of(lib::value::of(std::move(tensors)))}));
}
/// Yields the values of a one-dimensional tensor as numbers or texts. Errors: throws invalid_argument if the tensor has
/// another dtype or shape.
template <class T>
  requires(detail::is_tensor_or_plain<T> && !std::is_same_v<T, tensor>)
dataset<T> from_tensor_slices(tensor values) {
  const dtype of_values = *dtype_of(type_of<T>());
  return dataset<T>(from_tensor_slices_op,
                    arguments::of(from_tensor_slices_arguments{detail::tensor_data_of(std::move(values), of_values)}));
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::from_tensor_slices;

}  // namespace sluice
