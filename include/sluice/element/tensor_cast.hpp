// SPDX-License-Identifier: Apache-2.0
// Converts tensors to other number types, and bytes to tensors.
//
//   tensor pixels = cast(image, dtype::float32);                       // uint8 -> float32
//   tensor samples = decode_raw(record.view(), dtype::int16);          // int16[n]
//
// Owns:   results have their own bytes, except for a cast to the dtype that a tensor already has, which shares them.
// Errors: throws invalid_argument: a value that the other dtype cannot represent (300 as uint8, -1 as uint32, NaN as
//         int8, 1e39 as float32), strings, bytes that are not a whole number of elements. Floating-point numbers are
//         truncated to integers, and rounded to the nearest floating-point number. A bool is true if the number is not 0.
#pragma once

#include <string_view>

#include "sluice/element/tensor.hpp"

namespace sluice::lib {

tensor cast(const tensor& t, dtype to);
/// Returns the bytes of little-endian numbers as a vector of numbers.
tensor decode_raw(std::string_view bytes, dtype of);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::cast;
using lib::decode_raw;

}  // namespace sluice
