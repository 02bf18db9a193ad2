// SPDX-License-Identifier: Apache-2.0
// tensor_array: tensors in order, each with its own shape. tf.TensorArray; in plans and descriptors it is the list that it
// is, `tensor[]`.
//
//   tensor_array crops = {crop(image, …), crop(image, …)};
//   tensor batch = stack(crops);                       // uint8[2,224,224,3]
//   tensor_array again = unstack(batch);               // views
//
// Errors: throws invalid_argument, with the number of the tensor, where dtypes or shapes do not fit; out_of_range of none,
//         as nothing says what they would be.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sluice/element/tensor.hpp"

namespace sluice::lib {

using tensor_array = std::vector<tensor>;

/// Tensors of one dtype and shape as one, with a dimension in front.
tensor stack(std::span<const tensor> all);
/// The parts in the first dimension, which share its bytes. Errors: invalid_argument of a scalar.
tensor_array unstack(const tensor& t);
/// Tensors of one dtype, and of shapes that differ in the first dimension only, one behind the other.
tensor concat(std::span<const tensor> all);
/// The inverse: parts of these lengths in the first dimension, which share its bytes. Errors: invalid_argument, unless
/// they are that dimension in sum.
tensor_array split(const tensor& t, std::span<const std::int64_t> lengths);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::concat;
using lib::split;
using lib::stack;
using lib::tensor_array;
using lib::unstack;

}  // namespace sluice
