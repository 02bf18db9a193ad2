// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/dtype.hpp"

#include <array>
#include <bit>
#include <utility>

#include "sluice/element/type.hpp"

namespace sluice::lib {
namespace {

constexpr std::array<std::string_view, kDtypes> kNames = {"bool",     "int8",    "int16",   "int32",  "int64",
                                                          "uint8",    "uint16",  "uint32",  "uint64", "float16",
                                                          "bfloat16", "float32", "float64", "string"};

/// Returns `bits` without the last `dropped` bits, rounded to the nearest, ties to even.
std::uint32_t rounded(std::uint32_t bits, unsigned dropped) {
  std::uint32_t kept = bits >> dropped, rest = bits & ((1u << dropped) - 1), half = 1u << (dropped - 1);
  return kept + (rest > half || (rest == half && (kept & 1u) != 0) ? 1 : 0);
}

}  // namespace

std::string_view name_of(dtype d) noexcept { return kNames[static_cast<std::size_t>(d)]; }

std::optional<dtype> dtype_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i != kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<dtype>(i);
  return {};
}

// An enum is printed like its number, and has its size.
std::optional<dtype> dtype_of(const element_type& t) {
  if (t.kind == kind::text) return dtype::string;
  if (t.kind != kind::scalar) return {};
  static const std::array<std::pair<const element_type*, dtype>, 11> numbers = {{
      {&type_of<bool>(), dtype::boolean},
      {&type_of<std::int8_t>(), dtype::int8},
      {&type_of<std::int16_t>(), dtype::int16},
      {&type_of<std::int32_t>(), dtype::int32},
      {&type_of<std::int64_t>(), dtype::int64},
      {&type_of<std::uint8_t>(), dtype::uint8},
      {&type_of<std::uint16_t>(), dtype::uint16},
      {&type_of<std::uint32_t>(), dtype::uint32},
      {&type_of<std::uint64_t>(), dtype::uint64},
      {&type_of<float>(), dtype::float32},
      {&type_of<double>(), dtype::float64},
  }};
  for (auto& [number, d] : numbers)
    if (t.print == number->print && t.size == number->size) return d;
  return {};
}

namespace detail {

float float16_value(std::uint16_t bits) noexcept {
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1fu, fraction = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 0x1p-24f;  // subnormal, or zero
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(small));
}

std::uint16_t float16_bits(float value) noexcept {
  const auto all = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = all >> 16 & 0x8000u, bits = all & 0x7fffffffu;
  auto with_sign = [sign](std::uint32_t b) { return static_cast<std::uint16_t>(sign | b); };
  if (bits > 0x7f800000u) return with_sign(0x7e00u | (bits >> 13 & 0x3ffu));    // NaN
  if (bits >= 0x47800000u) return with_sign(0x7c00u);                           // 2^16 and more
  if (bits >= 0x38800000u) return with_sign(rounded(bits - (112u << 23), 13));  // may correctly carry into infinity
  if (bits < 0x33000000u) return with_sign(0);
  const unsigned shift = 126 - (bits >> 23);  // subnormal: the leading bit is stored, too
  return with_sign(rounded((bits & 0x7fffffu) | 0x800000u, shift));
}

float bfloat16_value(std::uint16_t bits) noexcept { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

std::uint16_t bfloat16_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);  // NaN
  return static_cast<std::uint16_t>(rounded(bits, 16));
}

}  // namespace detail
}  // namespace sluice::lib
