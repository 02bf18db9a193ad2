// SPDX-License-Identifier: Apache-2.0
// type_of<T>(): the descriptor of a C++ type. Included by element/type.hpp.
//
// A class may define its own kernels, and its description, by static members:
//   static constexpr std::string_view sluice_name = "record";      // makes a class `named` rather than opaque
//   static std::string sluice_type_name();                         // the same for a template: "dataset<int64>"
//   static constexpr bool trivially_relocatable = true;
//   using sluice_text = void; std::string_view view() const;       // makes it a text
//   using sluice_tensor = void;                                    // for the class tensor only
//   static void sluice_destroy(T*, size_t n);                      // a block at once
//   static size_t sluice_footprint(const T*, size_t n);
//   static void sluice_compact(T*, size_t n);
//   void sluice_print(std::string& json) const;
// and an aggregate, whose members describe it:
//   static constexpr bool sluice_whole = true;                     // one object in batches: its parts' shapes differ
//   static status sluice_check(const T&);                          // called for an element that is read from bytes
// SLUICE_ELEMENT(sample) in a header and SLUICE_ELEMENT_DEFINITION(sample) in one source save all other sources the
// compile time of type_of (60 ms per structure).
#pragma once

#include <array>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/base/reflect.hpp"
#include "sluice/element/relocatable.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

template <class T> class batched;

namespace detail {

/// Stores `t`; it is never destroyed.
const element_type& keep(element_type t);
/// Stores the type of a list or an optional, or returns the existing one for the same element type. (long and long long
/// have the same descriptor, so the lists of these two C++ types must have the same one, too.)
const element_type& keep_list(const element_type& t);
/// Sets the kernels that are not set yet to the general ones, which work on bytes and on members.
void complete(element_type& t);

/// Uninitialized memory, used for the offsets of members.
template <class T> union room {
  T value;
  room() {}
  ~room() {}
};

// --- Integer types of the same size and sign share one descriptor: long and long long are both int64. ---
template <class T> constexpr auto canonical_integer() {
  constexpr bool is_signed = std::is_signed_v<T>;
  if constexpr (sizeof(T) == 1) return std::conditional_t<is_signed, std::int8_t, std::uint8_t>{};
  else if constexpr (sizeof(T) == 2) return std::conditional_t<is_signed, std::int16_t, std::uint16_t>{};
  else if constexpr (sizeof(T) == 4) return std::conditional_t<is_signed, std::int32_t, std::uint32_t>{};
  else return std::conditional_t<is_signed, std::int64_t, std::uint64_t>{};
}

const element_type& scalar_type(std::int8_t*);
const element_type& scalar_type(std::int16_t*);
const element_type& scalar_type(std::int32_t*);
const element_type& scalar_type(std::int64_t*);
const element_type& scalar_type(std::uint8_t*);
const element_type& scalar_type(std::uint16_t*);
const element_type& scalar_type(std::uint32_t*);
const element_type& scalar_type(std::uint64_t*);
const element_type& scalar_type(bool*);
const element_type& scalar_type(float*);
const element_type& scalar_type(double*);
const element_type& string_type();

// --- Kernels instantiated for one type. ---
template <class T>
void relocate(const element_type&, void* to, void* from, std::size_t n, std::size_t to_stride,
              std::size_t from_stride) {
  auto* t = static_cast<char*>(to);
  auto* f = static_cast<char*>(from);
  for (; n != 0; --n, t += to_stride, f += from_stride) {
    T* source = std::launder(reinterpret_cast<T*>(f));
    ::new (static_cast<void*>(t)) T(std::move(*source));
    source->~T();
  }
}
template <class T>
void exchange(const element_type&, void* out, void* slots, void* in, const std::uint32_t* at, std::size_t n) {
  auto* o = static_cast<T*>(out);
  auto* s = static_cast<T*>(slots);
  auto* v = static_cast<T*>(in);
  for (std::size_t i = 0; i != n; ++i) {
    T* slot = s + at[i];
    ::new (static_cast<void*>(o + i)) T(std::move(*slot));
    slot->~T();
    ::new (static_cast<void*>(slot)) T(std::move(v[i]));
    v[i].~T();
  }
}
template <class T> void destroy(const element_type&, void* p, std::size_t n) {
  if constexpr (requires(T* t) { T::sluice_destroy(t, n); }) T::sluice_destroy(static_cast<T*>(p), n);
  else std::destroy_n(static_cast<T*>(p), n);
}
template <class T>
void copy(const element_type&, void* to, const void* from, std::size_t n, std::size_t to_stride,
          std::size_t from_stride) {
  auto* t = static_cast<char*>(to);
  auto* f = static_cast<const char*>(from);
  for (; n != 0; --n, t += to_stride, f += from_stride)
    ::new (static_cast<void*>(t)) T(*std::launder(reinterpret_cast<const T*>(f)));
}
void copy_bytes(const element_type& t, void* to, const void* from, std::size_t n, std::size_t to_stride,
                std::size_t from_stride);
template <class T> void construct(const element_type&, void* p, std::size_t n, std::size_t stride) {
  for (auto* at = static_cast<char*>(p); n != 0; --n, at += stride) ::new (static_cast<void*>(at)) T();
}
template <class T> std::size_t hooked_footprint(const element_type&, const void* p, std::size_t n) {
  return T::sluice_footprint(static_cast<const T*>(p), n);
}
template <class T> void hooked_compact(const element_type&, void* p, std::size_t n) {
  T::sluice_compact(static_cast<T*>(p), n);
}
template <class T> void hooked_print(const element_type&, const void* p, std::string& out) {
  static_cast<const T*>(p)->sluice_print(out);
}
template <class T> status hooked_check(const void* p) { return T::sluice_check(*static_cast<const T*>(p)); }
template <class T> std::string_view text(const void* p) {
  if constexpr (std::is_same_v<T, std::string>) return *static_cast<const T*>(p);
  else return static_cast<const T*>(p)->view();
}

template <class T> void texts(const void* p, std::size_t n, std::size_t stride, std::string_view* out) {
  for (auto* at = static_cast<const char*>(p); n != 0; --n, at += stride) *out++ = text<T>(at);
}
/// Constructible from a buffer and bytes: a text that keeps its bytes in a buffer.
template <class T> inline constexpr bool shares_bytes = requires(buffer* b, const char* p) { T(b, p, std::size_t{}); };
template <class T>
inline constexpr bool made_of_bytes = shares_bytes<T> || std::is_constructible_v<T, std::string_view>;
void add_references(buffer* owner, std::size_t n) noexcept;
template <class T>
void make_texts(void* to, std::size_t n, std::size_t stride, buffer* owner, const char* bytes,
                const std::int32_t* offsets) {
  auto* at = static_cast<char*>(to);
  std::size_t made = 0;
  if constexpr (shares_bytes<T>) {
    add_references(owner, n);
    for (; made != n; ++made, at += stride)
      ::new (static_cast<void*>(at))
          T(owner, bytes + offsets[made], static_cast<std::size_t>(offsets[made + 1] - offsets[made]));
  } else {
    try {
      for (; made != n; ++made, at += stride)
        ::new (static_cast<void*>(at))
            T(std::string_view(bytes + offsets[made], static_cast<std::size_t>(offsets[made + 1] - offsets[made])));
    } catch (...) {
      for (; made != 0; --made) std::launder(reinterpret_cast<T*>(at -= stride))->~T();
      throw;
    }
  }
}
template <class List> const void* list_items(const element_type&, const void* p, std::size_t& n) {
  auto* l = static_cast<const List*>(p);
  n = l->size();
  return l->data();
}
template <class Maybe> const void* maybe_items(const element_type&, const void* p, std::size_t& n) {
  auto* m = static_cast<const Maybe*>(p);
  n = m->has_value() ? 1 : 0;
  return n ? &**m : nullptr;
}

// Elements of a list or maybe: footprint, compact and print go through the element's descriptor.
template <class List> std::size_t list_footprint(const element_type& t, const void* p, std::size_t n) {
  std::size_t bytes = 0;
  for (auto* l = static_cast<const List*>(p); n != 0; --n, ++l)
    bytes += l->capacity() * t.element->size + t.element->footprint(*t.element, l->data(), l->size());
  return bytes;
}
template <class List> void list_compact(const element_type& t, void* p, std::size_t n) {
  for (auto* l = static_cast<List*>(p); n != 0; --n, ++l)
    if (t.element->compact) t.element->compact(*t.element, l->data(), l->size());
}
void print_array(const element_type& element, const void* p, std::size_t n, std::string& out);
template <class List> void list_print(const element_type& t, const void* p, std::string& out) {
  auto* l = static_cast<const List*>(p);
  print_array(*t.element, l->data(), l->size(), out);
}
template <class Maybe> std::size_t maybe_footprint(const element_type& t, const void* p, std::size_t n) {
  std::size_t bytes = 0;
  for (auto* m = static_cast<const Maybe*>(p); n != 0; --n, ++m)
    if (*m) bytes += t.element->footprint(*t.element, &**m, 1);
  return bytes;
}
template <class Maybe> void maybe_compact(const element_type& t, void* p, std::size_t n) {
  for (auto* m = static_cast<Maybe*>(p); n != 0; --n, ++m)
    if (*m && t.element->compact) t.element->compact(*t.element, &**m, 1);
}
template <class Maybe> void maybe_print(const element_type& t, const void* p, std::string& out) {
  auto* m = static_cast<const Maybe*>(p);
  if (*m) t.element->print(*t.element, &**m, out);
  else out += "null";
}

// --- Classification of types. ---
template <class T>
inline constexpr bool is_text = std::is_same_v<T, std::string> || requires { typename T::sluice_text; };
template <class T> inline constexpr bool is_list = false;
template <class T> inline constexpr bool is_list<std::vector<T>> = !std::is_same_v<T, bool>;
template <class T> inline constexpr bool is_maybe = false;
template <class T> inline constexpr bool is_maybe<std::optional<T>> = true;
template <class T> inline constexpr bool is_pair = false;
template <class A, class B> inline constexpr bool is_pair<std::pair<A, B>> = true;
template <class T> inline constexpr bool is_tuple = false;
template <class... M> inline constexpr bool is_tuple<std::tuple<M...>> = sizeof...(M) != 0;
template <class T> inline constexpr bool is_array = false;
template <class T, std::size_t N> inline constexpr bool is_array<std::array<T, N>> = N != 0;
template <class T> inline constexpr bool is_tensor = requires { typename T::sluice_tensor; };
template <class T>
inline constexpr bool names_itself = requires { T::sluice_name; } || requires { T::sluice_type_name(); };
template <class T> inline constexpr bool is_whole = requires { requires T::sluice_whole; };
template <class T> inline constexpr bool is_batched = false;
template <class T> inline constexpr bool is_batched<batched<T>> = true;

/// is_copy_constructible, but correct for vectors: std::vector<T> claims to be copyable even if T is not.
template <class T> constexpr bool copyable() {
  if constexpr (std::is_array_v<T>) return copyable<std::remove_extent_t<T>>();
  else if constexpr (is_list<T> || is_maybe<T>) return copyable<typename T::value_type>();
  else if constexpr (reflectable<T>)
    return []<class... M>(std::tuple<M*...>*) {
      return std::is_copy_constructible_v<T> && (copyable<std::remove_cv_t<M>>() && ...);
    }(static_cast<member_pointers<T>*>(nullptr));
  else return std::is_copy_constructible_v<T>;
}

template <class List>
void list_collect(const element_type&, void* to, void* from, std::size_t n, std::size_t moved, std::size_t stride) {
  using T = typename List::value_type;
  auto* at = static_cast<char*>(from);
  List made;
  if constexpr (std::is_trivially_copyable_v<T>) {
    if (stride == sizeof(T)) {
      auto* first = std::launder(reinterpret_cast<const T*>(at));
      made.assign(first, first + n);
      n = 0;
    }
  }
  made.reserve(n);
  for (std::size_t i = 0; i != n; ++i, at += stride) {
    T* x = std::launder(reinterpret_cast<T*>(at));
    if constexpr (copyable<T>()) {
      if (i < moved) made.push_back(std::move(*x));
      else made.push_back(*x);
    } else {
      made.push_back(std::move(*x));
    }
  }
  ::new (to) List(std::move(made));
}

template <class Maybe>
void maybe_collect(const element_type&, void* to, void* from, std::size_t n, std::size_t moved, std::size_t) {
  using T = typename Maybe::value_type;
  auto* x = static_cast<T*>(from);
  if (n == 0) {
    ::new (to) Maybe();
    return;
  }
  if constexpr (copyable<T>()) {
    if (moved == 0) {
      ::new (to) Maybe(std::in_place, *x);
      return;
    }
  }
  ::new (to) Maybe(std::in_place, std::move(*x));
}

/// Returns "b<c::d>" for "a::b<c::d>": arguments keep their own scopes.
std::string without_scope(std::string_view type);
template <class T> std::string type_name() {
  if constexpr (requires { T::sluice_name; }) return std::string(T::sluice_name);
  else if constexpr (requires { T::sluice_type_name(); }) return T::sluice_type_name();
  else return without_scope(pretty_type<T>());
}

void add_member(element_type& t, std::string_view name, std::ptrdiff_t offset, const element_type& type);
template <class T> void add_members(element_type& t) {
  static room<T> nothing;  // never constructed: only its addresses are used
  auto* base = reinterpret_cast<const char*>(&nothing.value);
  with_members(nothing.value, [&]<class... M>(M&... m) {
    std::size_t k = 0;
    (add_member(t, member_names<T>[k++], reinterpret_cast<const char*>(&m) - base, type_of<std::remove_cv_t<M>>()),
     ...);
  });
}

template <class T> void describe(element_type& t) {
  if constexpr (is_text<T>) {
    t.kind = kind::text;
    t.text = text<T>;
    t.texts = texts<T>;
    if constexpr (made_of_bytes<T>) t.make_texts = make_texts<T>;
  } else if constexpr (std::is_enum_v<T>) {
    t.kind = kind::scalar;
    t.print = type_of<std::underlying_type_t<T>>().print;
  } else if constexpr (is_list<T>) {
    t.kind = kind::list;
    t.element = &type_of<typename T::value_type>();
    t.name = t.element->name + "[]";
    t.footprint = list_footprint<T>;
    if (t.element->compact) t.compact = list_compact<T>;
    t.collect = list_collect<T>;
    t.items = list_items<T>;
    t.print = list_print<T>;
  } else if constexpr (is_maybe<T>) {
    t.kind = kind::maybe;
    t.element = &type_of<typename T::value_type>();
    t.name = t.element->name + "?";
    t.footprint = maybe_footprint<T>;
    if (t.element->compact) t.compact = maybe_compact<T>;
    t.collect = maybe_collect<T>;
    t.items = maybe_items<T>;
    t.print = maybe_print<T>;
  } else if constexpr (is_tensor<T>) {
    t.kind = kind::tensor;
  } else if constexpr (names_itself<T>) {
    t.kind = kind::named;
  } else if constexpr (reflectable<T>) {
    t.kind = kind::structure;
    t.whole = is_whole<T>;
    if constexpr (requires(const T& x) { T::sluice_check(x); }) t.check = hooked_check<T>;
    add_members<T>(t);
  }
  if constexpr (requires(const T* p) { T::sluice_footprint(p, std::size_t{}); }) t.footprint = hooked_footprint<T>;
  if constexpr (requires(T* p) { T::sluice_compact(p, std::size_t{}); }) t.compact = hooked_compact<T>;
  if constexpr (requires(const T& v, std::string& s) { v.sluice_print(s); }) t.print = hooked_print<T>;
}

template <class T> element_type made_of() {
  static_assert(std::is_object_v<T> && std::is_nothrow_destructible_v<T> && std::is_move_constructible_v<T>,
                "sluice: an element must be a type of objects that can be moved");
  element_type t;
  t.name = type_name<T>();
  t.size = sizeof(T);
  t.align = alignof(T);
  t.relocatable = trivially_relocatable_v<T>;
  t.trivially_destroyed = std::is_trivially_destructible_v<T>;
  if constexpr (!trivially_relocatable_v<T>) {
    t.relocate = relocate<T>;
    t.exchange = exchange<T>;
  }
  if constexpr (!std::is_trivially_destructible_v<T>) t.destroy = destroy<T>;
  if constexpr (std::is_trivially_copyable_v<T>) t.copy = copy_bytes;
  else if constexpr (copyable<T>()) t.copy = copy<T>;
  if constexpr (std::is_default_constructible_v<T>) t.construct = construct<T>;
  describe<T>(t);
  return t;
}

template <class... M> const element_type& make_tuple_type(std::tuple<M...>*) {
  static_assert(!(false || ... || std::is_empty_v<M>),
                "sluice: an empty class within a std::tuple takes no room there, so the tuple cannot be an element");
  return *tuple_of({&type_of<M>()...});
}

template <class T> const element_type& make_type() {
  element_type t = made_of<T>();
  if constexpr (is_list<T> || is_maybe<T>) return keep_list(t);
  complete(t);
  return keep(std::move(t));
}

}  // namespace detail

template <class T> const element_type& type_of() {
  static_assert(!std::is_const_v<T> && !std::is_reference_v<T>,
                "sluice: an element type is written without const or &");
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return detail::scalar_type(static_cast<T*>(nullptr));
  } else if constexpr (std::is_integral_v<T>) {
    return detail::scalar_type(static_cast<decltype(detail::canonical_integer<T>())*>(nullptr));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return detail::string_type();
  } else {
    static const element_type& type = []() -> const element_type& {
      if constexpr (detail::is_pair<T>)
        return *pair_of(&type_of<typename T::first_type>(), &type_of<typename T::second_type>());
      else if constexpr (detail::is_tuple<T>) return detail::make_tuple_type(static_cast<T*>(nullptr));
      else if constexpr (std::is_array_v<T>) return *array_of(&type_of<std::remove_extent_t<T>>(), std::extent_v<T>);
      else if constexpr (detail::is_array<T>)
        return *array_of(&type_of<typename T::value_type>(), std::tuple_size_v<T>);
      else if constexpr (detail::is_batched<T>) return *batched_of(&type_of<typename T::row_type>());
      else return detail::make_type<T>();
    }();
    return type;
  }
}

}  // namespace sluice::lib

/// In a header, at namespace scope outside sluice: declares that type_of<T> is defined elsewhere.
#define SLUICE_ELEMENT(T) template <> const ::sluice::lib::element_type& sluice::lib::type_of<T>();
/// In one source: defines it.
#define SLUICE_ELEMENT_DEFINITION(T)                                                        \
  template <> const ::sluice::lib::element_type& sluice::lib::type_of<T>() {                \
    static const ::sluice::lib::element_type& type = ::sluice::lib::detail::make_type<T>(); \
    return type;                                                                            \
  }
