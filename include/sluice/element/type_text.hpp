// SPDX-License-Identifier: Apache-2.0
// The text of element types, from which a reader can make the type without any C++ code that names it:
//
//   type_text(type_of<sample>())                    // "sample{label: int64, text: string}"
//   auto t = type_from_text("{label: int64, image: uint8[3][]}?");
//
//   bool int8 … uint64 float double string record line tensor sparse_tensor ragged_tensor none
//   date32  timestamp[us, UTC]  time64[ns] …        dates and times that Arrow files have: numbers with a unit
//   T[]  T[16]  T?                                  vector, array, optional, from the left: `int64?[]` is a list of
//                                                   optionals
//   (T, U)  (T, U, V)  tuple(T)  tuple(T, U)        a pair, tuples; (T, U) is the pair
//   {name: T, …}  sample{name: T, …}                a structure without and with a C++ name
//   colour<uint8>                                   an enum and its number
//   batch<T>
//   name                                            a class that describes itself; opaque types
//
// Names that are not identifiers are in quotes, with \" \\ and \xHH.
// Errors: invalid_argument, with the column (from 1), if the text is not a type; resource_exhausted if a process has
//         read more than kTypeTextsBytesMax of different texts, because types are never destroyed.
// Thread: any.
// Cost:   one look-up for a text that was read before.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

inline constexpr std::size_t kTypeTextBytesMax = std::size_t{64} << 10;
inline constexpr std::size_t kTypeDepthMax = 64;
/// The size limit of one element of a type that was read from a text, without the memory that it owns.
inline constexpr std::size_t kTypeBytesMax = std::size_t{1} << 30;
inline constexpr std::size_t kTypeTextsBytesMax = std::size_t{8} << 20;

/// Appends the text of a type. Different types may have the same text: classes of one name in different namespaces.
void append_type_text(const element_type& t, std::string& out);
std::string type_text(const element_type& t);

/// Returns the type of a text. If the program has given this name and these members to a structure (enum, class), the
/// result is the program's type; otherwise a new one is made. Names without members refer to types of the program.
result<const element_type*> type_from_text(std::string_view text);

/// Returns true if both are the same type, or structures of the same name, members and layout (one declared by a
/// program, one made from a text), or consist of such types. Elements of one are then elements of the other.
bool is_same_type(const element_type& a, const element_type& b);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::is_same_type;
using lib::type_from_text;
using lib::type_text;

}  // namespace sluice
