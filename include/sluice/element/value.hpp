// SPDX-License-Identifier: Apache-2.0
// value: one element of any type, with its descriptor. Functions of plans, the command line and files use it if no C++
// type is known.
//
//   value v = value::of(sample{7, "seven"});
//   v.as<sample>().label                        // throws if it is not a sample: "expected sample{…}, got int64"
//   v.at("label").as<std::int64_t>()
//   v.print()                                   // {"label":7,"text":"seven"}
//   result<value> again = value_from_json(v.type(), v.print());
//   std::string bytes = serialise(v);           // element/serialise.hpp
//
// Owns:   its element. An element of 32 bytes or less is stored in the value itself, otherwise in separate memory.
// Order:  values of one type are ordered, unless it has opaque parts or classes that describe themselves: such values
//         are unordered, and equal nothing. Numbers are ordered by size, texts by their bytes, false before true, no
//         value before any value, everything else item by item, then by length. All NaNs are equal and greater than all
//         other numbers; 0.0 and -0.0 are equal.
// Thread: the same as for its element.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "sluice/base/assert.hpp"
#include "sluice/base/result.hpp"
#include "sluice/element/type.hpp"
#include "sluice/element/type_text.hpp"

namespace sluice::lib {

class value {
 public:
  /// A value without an element. A moved-from value has none.
  value() noexcept {}
  /// Moves the element from `from`, which is not destroyed: it is uninitialized memory afterwards.
  value(const element_type& t, void* from);
  static value copy_of(const element_type& t, const void* from);
  template <class T> static value of(T x) {
    alignas(T) std::byte room[sizeof(T)];
    return value(type_of<T>(), ::new (static_cast<void*>(room)) T(std::move(x)));
  }
  /// Value-initializes the element. Errors: throws invalid_argument if the type has no default constructor.
  static value empty_of(const element_type& t);

  /// Errors: throws invalid_argument if the element's type cannot be copied.
  value(const value& o);
  value(value&& o) noexcept { take(o); }
  value& operator=(value o) noexcept {
    reset();
    take(o);
    return *this;
  }
  ~value() { reset(); }

  bool has_value() const noexcept { return type_ != nullptr; }
  /// REQUIRES: has_value().
  const element_type& type() const noexcept {
    SLUICE_REQUIRES(type_, "a value without an element has no type");
    return *type_;
  }
  void* data() noexcept { return type_ && !is_inside(*type_) ? room_.outside : room_.inside; }
  const void* data() const noexcept { return const_cast<value*>(this)->data(); }
  void reset() noexcept;

  /// Returns the element as a T (is_same_type); null if it has another type.
  template <class T> T* get() noexcept {
    return type_ && is_same_type(*type_, type_of<T>()) ? std::launder(static_cast<T*>(data())) : nullptr;
  }
  template <class T> const T* get() const noexcept { return const_cast<value*>(this)->get<T>(); }
  /// Returns the element as a T. Errors: throws invalid_argument: "expected int64, got string".
  template <class T> T& as() {
    if (T* p = get<T>()) return *p;
    refuse(type_of<T>());
  }
  template <class T> const T& as() const { return const_cast<value*>(this)->as<T>(); }

  /// The number of members of a structure, pair or tuple, of items of an array, list or batch; 0 or 1 for an optional;
  /// otherwise 0.
  std::size_t size() const;
  /// Returns a copy of a member or item. Errors: throws out_of_range, or invalid_argument if the name does not exist.
  value at(std::size_t index) const;
  value at(std::string_view name) const;

  /// Returns the element as JSON (see print in element/type.hpp); "null" without an element.
  std::string print() const;
  /// A hash that is equal in each process, and with each compiler. Equal values have equal hashes. Errors: throws
  /// invalid_argument if the type has parts that are unordered.
  std::uint64_t hash() const;

  /// Returns `unordered` for values of different types, and in the cases above.
  friend std::partial_ordering operator<=>(const value& a, const value& b);
  friend bool operator==(const value& a, const value& b) { return (a <=> b) == 0; }

 private:
  friend struct value_room;
  static constexpr std::size_t kInsideBytes = 32;

  static bool is_inside(const element_type& t) noexcept;
  void* allocate(const element_type& t);
  void deallocate(const element_type& t, void* room) noexcept;
  void take(value& o) noexcept;
  [[noreturn]] void refuse(const element_type& wanted) const;

  const element_type* type_ = nullptr;
  union {
    alignas(8) std::byte inside[kInsideBytes];
    void* outside;
  } room_;
};

/// Compares two elements of one type, as values are compared.
std::partial_ordering compare(const element_type& t, const void* a, const void* b);
/// Returns true if a type has an order. Otherwise its elements are unordered.
bool is_ordered(const element_type& t);
/// The hash of a value with this element. Errors: throws invalid_argument if the type has no order.
std::uint64_t hash_of(const element_type& t, const void* p);

/// The inverse of print: reads a value of this type from JSON. Members that are optionals may be left out.
/// Errors: invalid_argument: not JSON (with line and column), or of another type, with the place: `features.image[3]:
/// expected int64, got "x"`; types that the library cannot make (classes that describe themselves, or print
/// themselves).
/// Shape:  print writes the same text for an empty optional and for an optional that contains an empty optional. It is
/// read as the first.
result<value> value_from_json(const element_type& t, std::string_view text);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::value;
using lib::value_from_json;

}  // namespace sluice
