// SPDX-License-Identifier: Apache-2.0
// spec: what is known of elements before there are any: numbers or texts in a shape, and structures, tuples and optionals of
// these.
//
//   spec s = *spec_from_text("{label: int64, image: uint8[?,224,3]}");
//   spec t = spec_of(type_of<sample>());              // numbers are of shape [], arrays have their lengths, vectors `?`
//   status why = check(s, v);                         // "image: expected uint8[?,224,3], got uint8[224,224]"
//   result<spec> both = merge(s, t);                  // the least general spec that holds what either does
//
//   float32  float32[]              a number (a shape of no dimensions)
//   uint8[224,?,3]  string[...]     a shape with an unknown length; any shape
//   {label: int64, text: string}    a structure; the C++ name does not matter
//   (int64, string)  tuple(int64)   pairs and tuples
//   int64?  float32[3]?  int64?[3]  an optional; an optional shape; a shape of optionals
//   {x: float32}[?]                 a list of structures
//   any[...]                        numbers and texts of any kind
//
// Shape:  what is nested in lists and arrays has one shape: std::vector<std::array<float, 3>> is float32[?,3]. Lists of
//         different lengths in a list are of the length `?`. A batch is the structure of its columns, the rows their first
//         dimension. Texts of every class are `string`, an enum is its number.
// Thread: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/result.hpp"
#include "sluice/element/value.hpp"

namespace sluice::lib {

struct spec {
  enum class form_type : std::uint8_t { leaf, structure, tuple, optional };
  static constexpr std::int64_t kUnknown = -1;  ///< a length

  form_type form = form_type::leaf;
  std::string dtype{};               ///< of a leaf: "float32", "string", "any", or the name of another class
  std::vector<std::string> names{};  ///< of a structure's members
  std::vector<spec> parts{};         ///< of a structure or a tuple; the one of an optional
  std::vector<std::int64_t> shape{};
  bool any_shape = false;  ///< `shape` is empty then

  std::string text() const;
  friend bool operator==(const spec& a, const spec& b) = default;
};

inline constexpr std::size_t kSpecTextBytesMax = std::size_t{64} << 10;
inline constexpr std::size_t kSpecDepthMax = 64;
inline constexpr std::size_t kSpecRankMax = 64;

/// Errors: invalid_argument with the column, from 1.
result<spec> spec_from_text(std::string_view text);

/// Of all elements of a type.
spec spec_of(const element_type& t);
/// Of one element: with the lengths that its lists have.
spec spec_of(const element_type& t, const void* p);
spec spec_of(const value& v);

/// The least general spec that holds every element that either holds: where lengths differ `?`, where numbers of dimensions
/// differ `[...]`. Errors: invalid_argument: no spec holds both, with the path.
result<spec> merge(const spec& a, const spec& b);
/// Is there an element of both? An unknown length fits any, any shape and `any` likewise.
bool is_compatible(const spec& a, const spec& b);
/// The same. Errors: invalid_argument: "features.image: expected uint8[224,224,3], got uint8[224,224]".
status check_compatible(const spec& expected, const spec& got);
/// Is each element of `special` one of `general`?
bool holds(const spec& general, const spec& special);
/// Is this element one of the spec's? Errors: as above; the value's own lengths are what it got.
status check(const spec& expected, const value& v);
status check(const spec& expected, const element_type& t, const void* p);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::check;
using lib::is_compatible;
using lib::merge;
using lib::spec;
using lib::spec_from_text;
using lib::spec_of;

}  // namespace sluice
