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
// Shape:  T, each tensor with a dimension less; exact cardinality, the first dimension of all tensors. Of a tensor of one dimension
//         the slices have none; in text without a dtype's name they are int64, double, bool or string, and so with <T>.
// Order:  as they stand in the tensors.
// Errors: invalid_argument, where the plan is made: a tensor without dimensions, or first dimensions that differ. A plan with more
//         than 64 KiB of tensors has no text or JSON form (failed_precondition).
// Owns:   the tensors, shared by all runs; slices are views that share their bytes. A resume compares them with the checkpoint's.
// State:  the number of slices delivered; passing over costs nothing.
// See:    op/from_tensors.hpp, op/from_elements.hpp
#pragma once

#include <utility>

#include "sluice/engine/tensor_data.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info from_tensor_slices_op;

struct from_tensor_slices_arguments {
  tensor_data_arg tensors = {};  ///< a tensor of one dimension or more, or a nest of such
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
/// The values of a tensor of one dimension as such. Errors: throws invalid_argument where it is of another dtype, or shape.
template <class T>
  requires(detail::is_tensor_or_plain<T> && !std::is_same_v<T, tensor>)
dataset<T> from_tensor_slices(tensor values) {
  const dtype of_values = *dtype_of(type_of<T>());
  return dataset<T>(from_tensor_slices_op,
                    arguments::of(from_tensor_slices_arguments{detail::tensor_data_of(std::move(values), of_values)}));
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::from_tensor_slices;

}  // namespace sluice
