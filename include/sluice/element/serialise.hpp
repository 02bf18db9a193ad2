// SPDX-License-Identifier: Apache-2.0
// Elements as bytes, for checkpoints, files and networks: other processes, other compilers and later versions can read
// them.
//
//   std::string bytes = serialise(value::of(sample{7, "seven"}));
//   result<value> v = parse_value(bytes);            // a sample, or a structure with the same members
//   serialise_bare(t, p, out);                       // for a reader that knows the type: no header, no checksum
//   result<value> w = parse_bare(t, out);
//   serialise_elements(t, block.data(), block.size(), out);       // many at once, for a reader that knows type and number
//
// Shape:  "SLV" and the version, 1; the length of the type's text (element/type_text.hpp), and the text; the element; a
//         checksum of all these, 4 bytes, little-endian. Elements: numbers are little-endian, an enum is its number, a
//         bool is 0 or 1. Texts, lists and batches are their number of bytes, items or rows, and then these (rows
//         consecutively). An optional is 0, or 1 and its value. Arrays, structures, pairs and tuples are their parts (a
//         structure without parts is 0). Lengths are varints with the smallest number of bytes, so that equal elements
//         of one type have equal bytes (except that 0.0 and -0.0, and NaNs with other bits, stay different).
// Errors: writing throws invalid_argument for types with unknown contents, and types with such parts: classes that
//         describe themselves, opaque ones. Reading: data_loss if bytes are damaged, missing or superfluous, with the
//         place; invalid_argument if their type does not exist here; resource_exhausted above the limits.
// Limits: nothing is allocated for a length that exceeds the rest of the bytes. Optionals without a value need one byte
//         here and any size in memory, so the memory of an element is limited: see parse_limits.
// Cost:   linear. Numbers in lists and arrays are copied as one block.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/element/value.hpp"

namespace sluice::lib {

class buffer;
class slab;

struct parse_limits {
  /// The limit for an element and its lists is this, plus `per_byte` for each byte read.
  std::size_t memory_bytes = std::size_t{16} << 20;
  std::size_t per_byte = 64;
};

/// Errors: throws; invalid_argument also if `v` has no element.
std::string serialise(const value& v);
/// Appends the same bytes for an element.
void serialise(const element_type& t, const void* p, std::string& out);
result<value> parse_value(std::string_view bytes, const parse_limits& limits = {});

/// Appends the element without header and checksum.
void serialise_bare(const element_type& t, const void* p, std::string& out);
result<value> parse_bare(const element_type& t, std::string_view bytes, const parse_limits& limits = {});

/// Appends n consecutive elements, without header and checksum. Numbers are one block, and so are the bytes of texts.
void serialise_elements(const element_type& t, const void* first, std::size_t n, std::string& out);
/// Builds these n elements behind the live ones of `to`, whose type they have. Slices among them share `owner`, of which
/// `bytes` are a part; without an owner they get copies. Errors: those of parse_bare; `to` then has its elements as before.
status parse_elements(std::string_view bytes, std::size_t n, buffer* owner, slab& to, const parse_limits& limits = {});

/// Returns true if elements of a type can be written and read. A program's own texts only if they can be made of bytes.
bool can_serialise(const element_type& t);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::parse_bare;
using lib::parse_elements;
using lib::parse_limits;
using lib::parse_value;
using lib::serialise;
using lib::serialise_bare;
using lib::serialise_elements;

}  // namespace sluice
