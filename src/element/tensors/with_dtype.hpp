// SPDX-License-Identifier: Apache-2.0
// Maps a dtype to the C++ type of its numbers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sluice/base/status.hpp"
#include "sluice/element/dtype.hpp"

namespace sluice::lib {

/// Calls f(std::type_identity<T>) with the number type of `d`. Errors: throws invalid_argument for strings.
template <class F> decltype(auto) with_number_dtype(dtype d, F f) {
  switch (d) {
    case dtype::boolean: return f(std::type_identity<bool>());
    case dtype::int8: return f(std::type_identity<std::int8_t>());
    case dtype::int16: return f(std::type_identity<std::int16_t>());
    case dtype::int32: return f(std::type_identity<std::int32_t>());
    case dtype::int64: return f(std::type_identity<std::int64_t>());
    case dtype::uint8: return f(std::type_identity<std::uint8_t>());
    case dtype::uint16: return f(std::type_identity<std::uint16_t>());
    case dtype::uint32: return f(std::type_identity<std::uint32_t>());
    case dtype::uint64: return f(std::type_identity<std::uint64_t>());
    case dtype::float16: return f(std::type_identity<float16>());
    case dtype::bfloat16: return f(std::type_identity<bfloat16>());
    case dtype::float32: return f(std::type_identity<float>());
    case dtype::float64: return f(std::type_identity<double>());
    case dtype::string: break;
  }
  throw error(invalid_argument_error("a tensor of numbers is needed, and this is one of strings"));
}

}  // namespace sluice::lib
