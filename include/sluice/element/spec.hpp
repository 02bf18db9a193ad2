// SPDX-License-Identifier: Apache-2.0
// spec: the properties of elements that are known before any element exists: numbers or texts in a shape, and
// structures, tuples and optionals of these.
//
//   spec s = *spec_from_text("{label: int64, image: uint8[?,224,3]}");
//   spec t = spec_of(type_of<sample>());           // numbers have the shape [], arrays have their lengths, vectors `?`
//   status why = check(s, v);                         // "image: expected uint8[?,224,3], got uint8[224,224]"
//   result<spec> both = merge(s, t);                  // the least general spec that includes both
//
//   float32  float32[]              a number (a shape of no dimensions)
//   uint8[224,?,3]  string[...]     a shape with an unknown length; any shape
//   {label: int64, text: string}    a structure; the C++ name does not matter
//   (int64, string)  tuple(int64)   pairs and tuples
//   int64?  float32[3]?  int64?[3]  an optional; an optional shape; a shape of optionals
//   {x: float32}[?]                 a list of structures
//   any[...]                        numbers and texts of any kind
//
// Shape:  nested lists and arrays have one common shape: std::vector<std::array<float, 3>> is float32[?,3]. Lists of
//         different lengths in a list have the length `?`. A batch is the structure of its columns, with the rows as
//         their first dimension. Texts of every class are `string`, an enum is its number.
// Thread: not safe for concurrent changes.
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
  std::string dtype{};               ///< for a leaf: "float32", "string", "any", or the name of another class
  std::vector<std::string> names{};  ///< for a structure: its members' names
  std::vector<spec> parts{};         ///< of a structure or a tuple; one part for an optional
  std::vector<std::int64_t> shape{};
  bool any_shape = false;  ///< if true, `shape` is empty

  std::string text() const;
  friend bool operator==(const spec& a, const spec& b) = default;
};

inline constexpr std::size_t kSpecTextBytesMax = std::size_t{64} << 10;
inline constexpr std::size_t kSpecDepthMax = 64;
inline constexpr std::size_t kSpecRankMax = 64;

/// Parses a spec. Errors: invalid_argument with the column, from 1.
result<spec> spec_from_text(std::string_view text);

/// The spec of all elements of a type.
spec spec_of(const element_type& t);
/// The spec of one element, with the lengths of its lists.
spec spec_of(const element_type& t, const void* p);
spec spec_of(const value& v);

/// Returns the least general spec that includes both: `?` for lengths that differ, `[...]` for numbers of dimensions
/// that differ. Errors: invalid_argument with the path: no spec includes both.
result<spec> merge(const spec& a, const spec& b);
/// Returns true if some element has both specs. An unknown length fits any length; likewise any shape and `any`.
bool is_compatible(const spec& a, const spec& b);
/// Checks the same. Errors: invalid_argument: "features.image: expected uint8[224,224,3], got uint8[224,224]".
status check_compatible(const spec& expected, const spec& got);
/// Returns true if every element of `special` is one of `general`.
bool holds(const spec& general, const spec& special);
/// Checks that this element has the spec. Errors: the same; the message contains the lengths of the value.
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
