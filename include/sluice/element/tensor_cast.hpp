// SPDX-License-Identifier: Apache-2.0
// Tensors of other numbers, and of bytes.
//
//   tensor pixels = cast(image, dtype::float32);                       // uint8 -> float32
//   tensor samples = decode_raw(record.view(), dtype::int16);          // int16[n]
//
// Owns:   results have bytes of their own, except cast to the dtype that a tensor has already, which shares.
// Errors: throws invalid_argument: a value that the other dtype does not have (300 as uint8, -1 as uint32, NaN as int8), strings,
//         bytes that are no whole number of elements. Floating point is cut to an integer, and rounded to the nearest float;
//         numbers to bool: is it not 0?
#pragma once

#include <string_view>

#include "sluice/element/tensor.hpp"

namespace sluice::lib {

tensor cast(const tensor& t, dtype to);
/// The bytes of little-endian numbers, as a vector of them.
tensor decode_raw(std::string_view bytes, dtype of);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::cast;
using lib::decode_raw;

}  // namespace sluice
