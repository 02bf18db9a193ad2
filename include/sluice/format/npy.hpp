// SPDX-License-Identifier: Apache-2.0
// decode_npy: decodes an array in the format of NumPy's .npy files, such as a member of an .npz file.
//
//   tensor weights = decode_npy(bytes).value();            // the whole array: float32[784,10]
//   zip_members("model.npz") | map(fn<&zip_member::bytes>) // the bytes of each array
//
// Shape:  the array's shape, also without dimensions or items, in either order of dimensions and bytes. The dtypes are
//         those of npy (sluice/op/npy.hpp).
// Errors: data_loss: truncated, bytes after the items, or not NumPy's format. unimplemented: objects, complex numbers,
//         fields. invalid_argument: more than 8 dimensions. The header's sizes are compared with the bytes before
//         memory is allocated.
// Owns:   the tensor has a copy.
// Thread: a pure function.
#pragma once

#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {

result<tensor> decode_npy(std::string_view encoded);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::decode_npy;

}  // namespace sluice
