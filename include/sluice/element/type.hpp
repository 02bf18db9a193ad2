// SPDX-License-Identifier: Apache-2.0
// element_type: the run-time description of a C++ type, by which the library moves, destroys, batches, measures and
// prints elements without being compiled for that type.
//
//   const element_type& t = type_of<sample>();
//   t.relocate(t, to, from, n, t.size, t.size);        // a kernel; its first argument is the descriptor
//   print(t, p, text);
//
// The function pointers are called kernels; each works on a whole block. They get the descriptor as an argument because
// the kernels of pairs, tuples and structures are shared by all such types and loop over `members`.
// Owns:   descriptors are made at first use and never destroyed. A type has exactly one, so they are compared by
//         address; pair_of, batched_of … return the same one as type_of of the C++ type.
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
  std::string name;                 ///< the same with every compiler, except that of a user's class
  std::size_t size = 0, align = 0;  ///< bytes
  sluice::lib::kind kind = kind::opaque;
  bool relocatable = false;          ///< relocate copies the bytes
  bool trivially_destroyed = false;  ///< destroy does nothing, so hot paths do not call it
  bool whole = false;                ///< columns keep rows of it as objects, though it has members (sluice_whole)
  std::vector<member> members{};
  const element_type* element = nullptr;  ///< of an array, list, maybe or batch
  std::size_t extent = 0;                 ///< of an array

  element_type();
  element_type(const element_type& other);
  element_type(element_type&& other) noexcept;
  element_type& operator=(const element_type& other);
  element_type& operator=(element_type&& other) noexcept;
  ~element_type();

  /// Is it made of parts that `members` names? A structure, a pair or a tuple; one without any is, too.
  bool has_members() const noexcept {
    using enum sluice::lib::kind;
    return kind == structure || kind == pair || kind == tuple;
  }
  /// Has a batch of such rows a column for each member?
  bool stacks_by_member() const noexcept { return has_members() && members.size() != 0 && !whole; }

  /// Moves n elements to uninitialised memory, and destroys the originals. The ranges must not overlap. Strides are in
  /// bytes.
  void (*relocate)(const element_type&, void* to, void* from, std::size_t n, std::size_t to_stride,
                   std::size_t from_stride) = nullptr;
  /// The inner loop of shuffle: for each i in turn moves slots[at[i]] to out[i], and in[i] to slots[at[i]]. `out` is
  /// uninitialised before, `in` afterwards.
  void (*exchange)(const element_type&, void* out, void* slots, void* in, const std::uint32_t* at,
                   std::size_t n) = nullptr;
  void (*destroy)(const element_type&, void* p, std::size_t n) = nullptr;
  /// Copies n elements to uninitialised memory. Null if the type cannot be copied.
  void (*copy)(const element_type&, void* to, const void* from, std::size_t n, std::size_t to_stride,
               std::size_t from_stride) = nullptr;
  /// Value-initialises n elements. Null if the type has no default constructor.
  void (*construct)(const element_type&, void* p, std::size_t n, std::size_t stride) = nullptr;
  /// Bytes that n elements own besides their size: the capacity of strings, the bytes of records …
  std::size_t (*footprint)(const element_type&, const void* p, std::size_t n) = nullptr;
  /// Makes elements own no more memory than their contents need (a record: a copy of its bytes instead of a reference
  /// on a large buffer), before they are held for long. Null if the type needs no such step.
  void (*compact)(const element_type&, void* p, std::size_t n) = nullptr;
  /// For lists and optionals only: constructs a list at uninitialised `list` from n elements, the first at `from`, each `stride`
  /// bytes behind the one before. The first `moved` of them are moved from, and still have to be destroyed by the
  /// caller; the others are copied. REQUIRES: moved == n if elements cannot be copied. Errors: exceptions of a copy; no
  /// list is constructed then.
  void (*collect)(const element_type&, void* list, void* from, std::size_t n, std::size_t moved,
                  std::size_t stride) = nullptr;
  /// Do the members fit together? Null: whatever they are. Asked of elements that are read from bytes.
  status (*check)(const void* p) = nullptr;
  /// Appends one element as JSON (see print).
  void (*print)(const element_type&, const void* p, std::string& out) = nullptr;
  /// For texts only: the bytes, valid as long as the element.
  std::string_view (*text)(const void* p) = nullptr;
  /// For texts only: the bytes of n of them, `stride` bytes apart.
  void (*texts)(const void* p, std::size_t n, std::size_t stride, std::string_view* out) = nullptr;
  /// For texts only: makes n texts at uninitialised `to`, text i of bytes[offsets[i]] … bytes[offsets[i + 1]], which are
  /// the bytes of `owner` (slices share it; null if there are none). Null if such texts cannot be made of bytes. Errors:
  /// std::bad_alloc; no text is constructed then.
  void (*make_texts)(void* to, std::size_t n, std::size_t stride, buffer* owner, const char* bytes,
                     const std::int32_t* offsets) = nullptr;
  /// For lists and optionals only: the elements, one behind the other, and how many (of an optional 0 or 1).
  const void* (*items)(const element_type&, const void* p, std::size_t& n) = nullptr;
};

/// The descriptor of T (element/type_of.hpp).
template <class T> const element_type& type_of();

/// The type of batched<T>, t being the type of T. Null if such rows cannot be stacked (can_stack).
const element_type* batched_of(const element_type* t);
/// std::pair of the two.
const element_type* pair_of(const element_type* first, const element_type* second);
/// std::tuple of all of them. Errors: null where one is null, or where there is none.
const element_type* tuple_of(const std::vector<const element_type*>& members);
/// std::array<T, n>.
const element_type* array_of(const element_type* t, std::size_t n);
/// std::vector<T>. Of bool, which std::vector keeps otherwise, it is a list that no C++ type is. Null for types that cannot be
/// made without a value (no default constructor), unless the program has called type_of<std::vector<T>>(). REQUIRES of the
/// program's own classes: a default constructor that does not throw.
const element_type* list_of(const element_type* t);
/// std::optional<T>. Null as above.
const element_type* maybe_of(const element_type* t);
/// A structure that is made at run time, with the layout that C++ would give it. The same name and members return the
/// same descriptor. Offsets in `members` are ignored. Without a name its name is its text: "{label: int64, text: string}".
/// Errors: null if a member's type is null.
const element_type* struct_of(std::string_view name, std::vector<member> members);
/// The type with this name in plan text: "int64", "float[]", "(string, int64)". Null if no descriptor of that name was
/// made yet.
const element_type* type_named(std::string_view name);

/// Returns true if rows of t can be stacked into a batch, as the concept `stackable` does.
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
