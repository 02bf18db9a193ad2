// SPDX-License-Identifier: Apache-2.0
// What the engine knows about an element: enough to move, drop, batch, measure and print it without its C++ type.
//
//   const element_type& t = type_of<sample>();
//   t.relocate(t, to, from, n, t.size, t.size);        // kernels take the descriptor first: pairs and structures made
//   print(t, p, text);                                 // at run time share one set, which reads their members
//
// Kernels are called once per block. Descriptors are made on first use, live for ever and are compared by address:
// one C++ type has one, and pair_of, batched_of … give the same one as type_of of the C++ spelling.
// Thread: descriptors are immutable; making them is safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib {

struct element_type;

enum class kind : std::uint8_t {
  scalar,     ///< a number or bool; an enum is its number
  text,       ///< string, record, line: `text` gives the bytes
  array,      ///< `extent` elements side by side
  list,       ///< std::vector
  maybe,      ///< std::optional
  structure,  ///< `members` by name
  pair,       ///< `members` first and second
  tuple,      ///< `members` 0, 1, 2 …
  batch,      ///< rows of `element`, one array for each of its members
  named,      ///< a class that describes itself (sluice_name)
  opaque,     ///< anything else: can be moved and dropped, not batched or printed
};

struct member {
  std::string name;
  std::size_t offset = 0;
  const element_type* type = nullptr;
};

struct element_type {
  std::string name;                 ///< the same under every compiler for all but users' own types
  std::size_t size = 0, align = 0;  ///< bytes
  sluice::lib::kind kind = kind::opaque;
  bool relocatable = false;          ///< moving is copying the bytes
  bool trivially_destroyed = false;  ///< destroy does nothing: callers on hot paths skip it
  std::vector<member> members{};
  const element_type* element = nullptr;  ///< of an array, list, maybe or batch
  std::size_t extent = 0;                 ///< of an array

  /// Moves n elements to uninitialised room; the originals are gone. Ranges do not overlap. Strides in bytes.
  void (*relocate)(const element_type&, void* to, void* from, std::size_t n, std::size_t to_stride,
                   std::size_t from_stride) = nullptr;
  /// out[i] takes slots[at[i]], which takes in[i]: the inner loop of shuffle. `in` ends uninitialised.
  void (*exchange)(const element_type&, void* out, void* slots, void* in, const std::uint32_t* at,
                   std::size_t n) = nullptr;
  void (*destroy)(const element_type&, void* p, std::size_t n) = nullptr;
  /// Copies n elements to uninitialised room; null where elements cannot be copied.
  void (*copy)(const element_type&, void* to, const void* from, std::size_t n, std::size_t to_stride,
               std::size_t from_stride) = nullptr;
  /// Value-initialises n elements; null where that cannot be done.
  void (*construct)(const element_type&, void* p, std::size_t n, std::size_t stride) = nullptr;
  /// Bytes owned beyond the elements' own size: string capacity, a record's payload … 0 where none.
  std::size_t (*footprint)(const element_type&, const void* p, std::size_t n) = nullptr;
  /// Makes elements own just their own bytes, so that holding them holds nothing else; null where they always do.
  void (*compact)(const element_type&, void* p, std::size_t n) = nullptr;
  /// Of a list: makes one at uninitialised `list`, out of the n elements that stand stride bytes apart from `from` on. The
  /// first `moved` of them are moved from, and still have to be destroyed; the others are copied, so that there may be none
  /// where elements cannot be copied. Null for other kinds. Errors: what a copy throws; nothing is made then.
  void (*collect)(const element_type&, void* list, void* from, std::size_t n, std::size_t moved,
                  std::size_t stride) = nullptr;
  /// Appends one element as JSON (see print).
  void (*print)(const element_type&, const void* p, std::string& out) = nullptr;
  /// The bytes of a text; null for other kinds. Valid as long as the element.
  std::string_view (*text)(const void* p) = nullptr;
};

/// The descriptor of T (element/type_of.hpp).
template <class T> const element_type& type_of();

/// The type of a batch of t: batched<T> has one representation for every T. Null where rows cannot be stacked.
const element_type* batched_of(const element_type* t);
/// std::pair of the two.
const element_type* pair_of(const element_type* first, const element_type* second);
/// std::tuple of all of them. Errors: null where one is null, or where there is none.
const element_type* tuple_of(const std::vector<const element_type*>& members);
/// std::array<T, n>.
const element_type* array_of(const element_type* t, std::size_t n);
/// std::vector<T> for numbers (not bool), strings, records and lines, and for every T of whose std::vector the program has
/// asked for the type; null for others.
const element_type* list_of(const element_type* t);
/// A structure made at run time, laid out as C++ would; one descriptor for one name and one list of members.
/// Offsets in `members` are ignored. Errors: null where a member's type is null.
const element_type* struct_of(std::string_view name, std::vector<member> members);
/// A type by its plan-text name, for those without a C++ spelling in reach: "int64", "float[]", "(string, int64)".
/// Null where nothing of that name was ever used.
const element_type* type_named(std::string_view name);

/// Can rows of t be stacked into a batch? The same answer as the concept `stackable`.
bool can_stack(const element_type& t);

/// One element as JSON: numbers, texts, arrays and lists as arrays, a pair as [first, second], a tuple alike, structures as objects, a
/// batch as an object of columns (an array where it has just one). What JSON has no words for: a text that is not UTF-8
/// is {"base64":"…"}, floats are "NaN", "Infinity" and "-Infinity". Always valid JSON, and no two texts look the same.
void print(const element_type& t, const void* p, std::string& out);
/// Appends `text` as JSON, as above: a string with its quotes, or {"base64":"…"}.
void print_json_text(std::string_view text, std::string& out);
/// Appends the name of an object's member, which must be a string: one that is not UTF-8 is "base64:…", and so is one
/// that begins with "base64:" itself, so that names cannot be mistaken for each other.
void print_json_name(std::string_view name, std::string& out);

}  // namespace sluice::lib

#include "sluice/element/type_of.hpp"

namespace sluice {

// What users write.
using lib::element_type;
using lib::type_of;

}  // namespace sluice
