// SPDX-License-Identifier: Apache-2.0
// element_type: the run-time description of a C++ type, by which the library moves, destroys, batches, measures and
// prints elements without being compiled for that type.
//
//   const element_type& t = type_of<sample>();
//   t.relocate(t, to, from, n, t.size, t.size);        // a kernel; its first argument is the descriptor
//   print(t, p, text);
//
// The function pointers are called kernels; each works on a whole block. The descriptor is their argument because all
// pairs, tuples and structures share kernels, which loop over `members`.
// Owns:   descriptors are made at first use and never destroyed. A type has exactly one, so they are compared by
//         address. pair_of, batched_of … return the same descriptor as type_of of the C++ type.
// Thread: descriptors are immutable, and may be made on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/status.hpp"

namespace sluice::lib {

struct element_type;
class buffer;

enum class kind : std::uint8_t {
  scalar,     ///< a number or bool; an enum is its number
  text,       ///< string, record, line: `text` returns the bytes
  array,      ///< std::array: `extent` elements
  list,       ///< std::vector
  maybe,      ///< std::optional
  structure,  ///< `members` by name
  pair,       ///< `members` first and second
  tuple,      ///< `members` 0, 1, 2 …
  batch,      ///< rows of `element`, one array for each of its members
  tensor,     ///< a tensor: each has its own dtype and shape (element/tensor.hpp)
  named,      ///< a class that describes itself (sluice_name)
  opaque,     ///< any other type: can be moved and destroyed, but not batched or printed
};

struct member {
  std::string name;
  std::size_t offset = 0;
  const element_type* type = nullptr;
};

struct element_type {
  std::string name;                 ///< the same with every compiler, except for a user's class
  std::size_t size = 0, align = 0;  ///< bytes
  sluice::lib::kind kind = kind::opaque;
  bool relocatable = false;          ///< relocate copies the bytes
  bool trivially_destroyed = false;  ///< destroy does nothing, so hot paths do not call it
  /// Columns store rows of this type as objects, although it has members (sluice_whole).
  bool whole = false;
  std::vector<member> members{};
  const element_type* element = nullptr;  ///< for an array, list, maybe or batch
  std::size_t extent = 0;                 ///< for an array

  element_type();
  element_type(const element_type& other);
  element_type(element_type&& other) noexcept;
  element_type& operator=(const element_type& other);
  element_type& operator=(element_type&& other) noexcept;
  ~element_type();

  /// Returns true for structures, pairs and tuples, whose parts `members` names, even without any member.
  bool has_members() const noexcept {
    using enum sluice::lib::kind;
    return kind == structure || kind == pair || kind == tuple;
  }
  /// Returns true if a batch of such rows has a column for each member.
  bool stacks_by_member() const noexcept { return has_members() && members.size() != 0 && !whole; }

  /// Moves n elements to uninitialized memory, and destroys the originals. The ranges must not overlap. Strides are in
  /// bytes.
  void (*relocate)(const element_type&, void* to, void* from, std::size_t n, std::size_t to_stride,
                   std::size_t from_stride) = nullptr;
  /// The inner loop of shuffle: for each i in order moves slots[at[i]] to out[i], and in[i] to slots[at[i]]. `out` is
  /// uninitialized before, `in` afterwards.
  void (*exchange)(const element_type&, void* out, void* slots, void* in, const std::uint32_t* at,
                   std::size_t n) = nullptr;
  void (*destroy)(const element_type&, void* p, std::size_t n) = nullptr;
  /// Copies n elements to uninitialized memory. Null if the type cannot be copied.
  void (*copy)(const element_type&, void* to, const void* from, std::size_t n, std::size_t to_stride,
               std::size_t from_stride) = nullptr;
  /// Value-initializes n elements. Null if the type has no default constructor.
  void (*construct)(const element_type&, void* p, std::size_t n, std::size_t stride) = nullptr;
  /// The bytes that n elements own in addition to their size: the capacity of strings, the bytes of records …
  std::size_t (*footprint)(const element_type&, const void* p, std::size_t n) = nullptr;
  /// Reduces the memory that elements own to the size of their contents, before they are held for a long time. For
  /// example, a record gets a copy of its bytes instead of a reference on a large buffer. Null if the type does not
  /// need this.
  void (*compact)(const element_type&, void* p, std::size_t n) = nullptr;
  /// For lists and optionals only: constructs a list at uninitialized `list` from n elements, the first at `from`, with
  /// a distance of `stride` bytes. The first `moved` of them are moved from, and the caller must still destroy them;
  /// the others are copied. REQUIRES: moved == n if elements cannot be copied. Errors: exceptions of a copy; no list is
  /// constructed then.
  void (*collect)(const element_type&, void* list, void* from, std::size_t n, std::size_t moved,
                  std::size_t stride) = nullptr;
  /// Checks that the members are consistent. Null: they always are. Called for elements that are read from bytes.
  status (*check)(const void* p) = nullptr;
  /// Appends one element as JSON (see print).
  void (*print)(const element_type&, const void* p, std::string& out) = nullptr;
  /// For texts only: the bytes, valid as long as the element.
  std::string_view (*text)(const void* p) = nullptr;
  /// For texts only: the bytes of n texts, `stride` bytes apart.
  void (*texts)(const void* p, std::size_t n, std::size_t stride, std::string_view* out) = nullptr;
  /// For texts only: makes n texts at uninitialized `to`; text i consists of bytes[offsets[i]] … bytes[offsets[i + 1]],
  /// which are the bytes of `owner` (shared by slices; null without bytes). Null if such texts cannot be made from
  /// bytes. Errors: std::bad_alloc; no text is constructed then.
  void (*make_texts)(void* to, std::size_t n, std::size_t stride, buffer* owner, const char* bytes,
                     const std::int32_t* offsets) = nullptr;
  /// For lists and optionals only: the elements, consecutively, and their number (0 or 1 for an optional).
  const void* (*items)(const element_type&, const void* p, std::size_t& n) = nullptr;
};

/// The descriptor of T (element/type_of.hpp).
template <class T> const element_type& type_of();

/// The type of batched<T>, where t is the type of T. Null if such rows cannot be stacked (can_stack).
const element_type* batched_of(const element_type* t);
/// std::pair of the two.
const element_type* pair_of(const element_type* first, const element_type* second);
/// std::tuple of all members. Null if a member is null, or without members.
const element_type* tuple_of(const std::vector<const element_type*>& members);
/// std::array<T, n>.
const element_type* array_of(const element_type* t, std::size_t n);
/// std::vector<T>. For bool, which std::vector stores in another way, it is a list without a C++ type. Null for types
/// without a default constructor, unless the program has called type_of<std::vector<T>>(). REQUIRES for the program's
/// own classes: a default constructor that does not throw.
const element_type* list_of(const element_type* t);
/// std::optional<T>. Null in the same cases.
const element_type* maybe_of(const element_type* t);
/// Makes a structure at run time, with the layout that C++ would give it. The same name and members return the same
/// descriptor. Offsets in `members` are ignored. Without a name its name is its text: "{label: int64, text: string}".
/// Returns null if a member's type is null.
const element_type* struct_of(std::string_view name, std::vector<member> members);
/// The type with this name in plan text: "int64", "float[]", "(string, int64)". Null if no descriptor of that name
/// exists yet.
const element_type* type_named(std::string_view name);

/// Returns true if rows of t can be stacked into a batch, like the concept `stackable`.
bool can_stack(const element_type& t);

/// Appends one element as JSON: arrays, lists, pairs and tuples as arrays, structures as objects, a batch as an object
/// of columns (or as an array, if it has one column). A text that is not UTF-8 is {"base64":"…"}; floats that JSON
/// cannot express are "NaN", "Infinity" and "-Infinity". The output is always valid JSON, and different texts have
/// different output.
void print(const element_type& t, const void* p, std::string& out);
/// Appends `text` as JSON, as above: a string with its quotes, or {"base64":"…"}.
void print_json_text(std::string_view text, std::string& out);
/// Appends the name of an object's member, which in JSON must be a string: a name that is not UTF-8 is "base64:…", and
/// so is one that begins with "base64:" itself, so that different names have different output.
void print_json_name(std::string_view name, std::string& out);

}  // namespace sluice::lib

#include "sluice/element/type_of.hpp"

namespace sluice {

// The public names.
using lib::element_type;
using lib::type_of;

}  // namespace sluice
