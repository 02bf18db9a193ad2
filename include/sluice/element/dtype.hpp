// SPDX-License-Identifier: Apache-2.0
// dtype: the type of the elements of a tensor. float16, bfloat16: 16-bit floating-point numbers, for storage and
// conversion.
//
//   dtype_of<float>() == dtype::float32
//   size_bytes(dtype::uint8) == 1; name_of(dtype::boolean) == "bool"
//   float16 h(1.5f); float f = static_cast<float>(h);
//
// Units:  bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace sluice::lib {

struct element_type;

/// Serialized tensors contain these numbers: they never change, and new dtypes are added at the end.
enum class dtype : std::uint8_t {
  boolean,  ///< "bool": a byte, 0 or 1
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,   ///< IEEE 754 binary16
  bfloat16,  ///< the upper half of a float32
  float32,
  float64,
  string,  ///< any bytes
};
inline constexpr int kDtypes = 14;

/// Returns the name in specs: "bool", "int8" … "float16", "bfloat16", "float32", "float64", "string".
std::string_view name_of(dtype d) noexcept;
/// Returns nullopt if no dtype has this name.
std::optional<dtype> dtype_named(std::string_view name) noexcept;
/// The size of one element; 0 for strings, whose sizes differ.
constexpr std::size_t size_bytes(dtype d) noexcept {
  constexpr std::uint8_t sizes[kDtypes] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 0};
  return sizes[static_cast<std::size_t>(d)];
}

namespace detail {
float float16_value(std::uint16_t bits) noexcept;
std::uint16_t float16_bits(float value) noexcept;
float bfloat16_value(std::uint16_t bits) noexcept;
std::uint16_t bfloat16_bits(float value) noexcept;
}  // namespace detail

/// Conversions from float round to the nearest, ties to even; NaN stays NaN. Equality compares bits.
struct float16 {
  std::uint16_t bits = 0;
  float16() = default;
  explicit float16(float value) noexcept : bits(detail::float16_bits(value)) {}
  explicit operator float() const noexcept { return detail::float16_value(bits); }
  friend bool operator==(float16, float16) = default;
};
struct bfloat16 {
  std::uint16_t bits = 0;
  bfloat16() = default;
  explicit bfloat16(float value) noexcept : bits(detail::bfloat16_bits(value)) {}
  explicit operator float() const noexcept { return detail::bfloat16_value(bits); }
  friend bool operator==(bfloat16, bfloat16) = default;
};

/// The C++ types that have a dtype, so that they can be elements of a tensor.
template <class T>
concept tensor_number = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16> ||
                        (std::is_arithmetic_v<T> && sizeof(T) <= 8 &&
                         (std::is_integral_v<T> || std::is_same_v<T, float> || std::is_same_v<T, double>));

/// Returns the dtype of T. Integers are identified by size and sign: long and long long are both int64.
template <tensor_number T> constexpr dtype dtype_of() noexcept {
  if constexpr (std::is_same_v<T, bool>) return dtype::boolean;
  else if constexpr (std::is_same_v<T, float16>) return dtype::float16;
  else if constexpr (std::is_same_v<T, bfloat16>) return dtype::bfloat16;
  else if constexpr (std::is_same_v<T, float>) return dtype::float32;
  else if constexpr (std::is_same_v<T, double>) return dtype::float64;
  else {
    constexpr int log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<dtype>(static_cast<int>(std::is_signed_v<T> ? dtype::int8 : dtype::uint8) + log2);
  }
}
/// Returns the dtype of a descriptor: of numbers, bools and enums, and texts. nullopt for other types.
std::optional<dtype> dtype_of(const element_type& t);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::bfloat16;
using lib::dtype;
using lib::float16;

}  // namespace sluice
