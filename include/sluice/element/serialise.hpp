// SPDX-License-Identifier: Apache-2.0
// Elements as bytes, for checkpoints, files and the wire: read by other processes, other compilers and later versions.
//
//   std::string bytes = serialise(value::of(sample{7, "seven"}));
//   result<value> v = parse_value(bytes);            // a sample, or a structure with the same members
//   serialise_bare(t, p, out);                       // where the reader knows the type: no header, no checksum
//   result<value> w = parse_bare(t, out);
//
// Shape:  "SLV" and the version, 1; the length of the type's text (element/type_text.hpp), and the text; the element; a
//         checksum of all that, 4 bytes, little-endian. An element: numbers, little-endian, an enum as its number; a bool 0 or
//         1; texts, lists and batches: how many bytes, items or rows, then these (rows one behind the other); an optional: 0,
//         or 1 and its value; arrays, structures, pairs, tuples: their parts (a structure without any: 0). Lengths are
//         varints of as few bytes as possible, so that equal elements of one type have equal bytes (but 0.0 and -0.0, and NaNs
//         with other bits, stay what they are).
// Errors: writing throws invalid_argument of types that are, or have parts, whose contents the library does not know: classes
//         that describe themselves, opaque ones. Reading: data_loss where bytes are damaged, cut or too many, with the place;
//         invalid_argument where their type does not exist here; resource_exhausted beyond the limits.
// Limits: nothing is allocated for a length that the rest of the bytes cannot hold. Optionals without a value take a byte here
//         and any size in memory, so what an element may take is limited: see parse_limits.
// Cost:   linear. Numbers in lists and arrays are copied at once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/element/value.hpp"

namespace sluice::lib {

struct parse_limits {
  /// Of an element and its lists: this, and `per_byte` for each byte that is read.
  std::size_t memory_bytes = std::size_t{16} << 20;
  std::size_t per_byte = 64;
};

/// Errors: throws; invalid_argument too where `v` has no element.
std::string serialise(const value& v);
/// Appends the same of an element.
void serialise(const element_type& t, const void* p, std::string& out);
result<value> parse_value(std::string_view bytes, const parse_limits& limits = {});

/// Appends the element alone.
void serialise_bare(const element_type& t, const void* p, std::string& out);
result<value> parse_bare(const element_type& t, std::string_view bytes, const parse_limits& limits = {});

/// Can elements of a type be written and read? Texts of the program's own can only if they are made of bytes.
bool can_serialise(const element_type& t);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::parse_bare;
using lib::parse_limits;
using lib::parse_value;
using lib::serialise;
using lib::serialise_bare;

}  // namespace sluice
