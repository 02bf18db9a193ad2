// SPDX-License-Identifier: Apache-2.0
// tensor_array: tensors in order, each with its own shape, like tf.TensorArray. In plans and descriptors it is a list,
// `tensor[]`.
//
//   tensor_array crops = {crop(image, …), crop(image, …)};
//   tensor batch = stack(crops);                       // uint8[2,224,224,3]
//   tensor_array again = unstack(batch);               // views
//
// Errors: throws invalid_argument, with the index of the tensor, if dtypes or shapes do not fit; out_of_range without
//         tensors, because dtype and shape are unknown.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sluice/element/tensor.hpp"

namespace sluice::lib {

using tensor_array = std::vector<tensor>;

/// Combines tensors of one dtype and shape into one, with a new first dimension.
tensor stack(std::span<const tensor> all);
/// Returns the parts in the first dimension, which share its bytes. Errors: invalid_argument for a scalar.
tensor_array unstack(const tensor& t);
/// Concatenates tensors of one dtype, and of shapes that differ in the first dimension only.
tensor concat(std::span<const tensor> all);
/// The inverse of concat: returns parts of these lengths in the first dimension, which share its bytes. Errors:
/// invalid_argument unless their sum is that dimension.
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
