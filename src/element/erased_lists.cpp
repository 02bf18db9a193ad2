// SPDX-License-Identifier: Apache-2.0
#include "element/erased_lists.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include "element/batches/kernels.hpp"
#include "element/text/print_element.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib::detail {

namespace {

/// The memory layout of a std::vector.
struct list_words {
  char* begin;
  char* end;
  char* room_end;
};

list_words words_at(const void* p) {
  list_words w;
  std::memcpy(&w, p, sizeof w);
  return w;
}
void set_words(void* p, const list_words& w) { std::memcpy(p, &w, sizeof w); }
std::size_t length(const element_type& element, const list_words& w) {
  return static_cast<std::size_t>(w.end - w.begin) / element.size;
}

// Allocates in the same way as std::allocator.
char* allocate(const element_type& element, std::size_t n) {
  if (n == 0) return nullptr;
  if (n > static_cast<std::size_t>(PTRDIFF_MAX) / element.size) throw std::bad_array_new_length();
  if (element.align > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
    return static_cast<char*>(::operator new(n * element.size, std::align_val_t(element.align)));
  return static_cast<char*>(::operator new(n * element.size));
}
void deallocate(const element_type& element, char* p) {
  if (!p) return;
  if (element.align > __STDCPP_DEFAULT_NEW_ALIGNMENT__) ::operator delete(p, std::align_val_t(element.align));
  else ::operator delete(p);
}

void destroy_items(const element_type& element, char* p, std::size_t n) {
  if (n != 0 && !element.trivially_destroyed) element.destroy(element, p, n);
}

void erased_list_destroy(const element_type& t, void* p, std::size_t n) {
  for (auto* at = static_cast<char*>(p); n != 0; --n, at += t.size) {
    auto w = words_at(at);
    destroy_items(*t.element, w.begin, length(*t.element, w));
    deallocate(*t.element, w.begin);
  }
}

void erased_list_construct(const element_type&, void* p, std::size_t n, std::size_t stride) {
  for (auto* at = static_cast<char*>(p); n != 0; --n, at += stride) set_words(at, {});
}

/// Moves one element and leaves an empty one, because `relocate` destroys the original, which its owner destroys
/// again.
void move_out(const element_type& e, char* to, char* from) noexcept {
  e.relocate(e, to, from, 1, e.size, e.size);
  if (!e.trivially_destroyed) e.construct(e, from, 1, e.size);
}

/// Moves the first `moved` elements at `from`, and copies the others.
void erased_list_collect(const element_type& t, void* to, void* from, std::size_t n, std::size_t moved,
                         std::size_t stride) {
  const element_type& e = *t.element;
  char* room = allocate(e, n);
  auto* source = static_cast<char*>(from);
  std::size_t made = 0;
  try {
    // Copies come first, because they may throw while nothing was moved.
    if (moved < n) e.copy(e, room + moved * e.size, source + moved * stride, n - moved, e.size, stride);
    made = n - moved;
    for (std::size_t i = 0; i != moved; ++i) move_out(e, room + i * e.size, source + i * stride);
  } catch (...) {
    destroy_items(e, room + moved * e.size, made);
    deallocate(e, room);
    throw;
  }
  set_words(to, {room, room + n * e.size, room + n * e.size});
}

void erased_list_copy(const element_type& t, void* to, const void* from, std::size_t n, std::size_t to_stride,
                      std::size_t from_stride) {
  auto* out = static_cast<char*>(to);
  auto* in = static_cast<const char*>(from);
  std::size_t made = 0;
  try {
    for (; made != n; ++made) {
      auto w = words_at(in + made * from_stride);
      erased_list_collect(t, out + made * to_stride, w.begin, length(*t.element, w), 0, t.element->size);
    }
  } catch (...) {
    for (; made != 0; --made) erased_list_destroy(t, out + (made - 1) * to_stride, 1);
    throw;
  }
}

std::size_t erased_list_footprint(const element_type& t, const void* p, std::size_t n) {
  std::size_t bytes = 0;
  for (auto* at = static_cast<const char*>(p); n != 0; --n, at += t.size) {
    auto w = words_at(at);
    bytes += static_cast<std::size_t>(w.room_end - w.begin);
    bytes += t.element->footprint(*t.element, w.begin, length(*t.element, w));
  }
  return bytes;
}

void erased_list_compact(const element_type& t, void* p, std::size_t n) {
  for (auto* at = static_cast<char*>(p); n != 0; --n, at += t.size) {
    auto w = words_at(at);
    t.element->compact(*t.element, w.begin, length(*t.element, w));
  }
}

const void* erased_list_items(const element_type& t, const void* p, std::size_t& n) {
  auto w = words_at(p);
  n = length(*t.element, w);
  return w.begin;
}

void erased_list_print(const element_type& t, const void* p, std::string& out) {
  auto w = words_at(p);
  print_array(*t.element, w.begin, length(*t.element, w), out);
}

// --- Optionals: the value, then a byte that is true if the value exists. ---

bool& flag_of(const element_type& t, void* p) {
  return *std::launder(reinterpret_cast<bool*>(static_cast<char*>(p) + t.element->size));
}
bool has_value(const element_type& t, const void* p) { return flag_of(t, const_cast<void*>(p)); }
void set_flag(const element_type& t, void* p, bool has) {
  ::new (static_cast<void*>(static_cast<char*>(p) + t.element->size)) bool(has);
}

void erased_maybe_relocate(const element_type& t, void* to, void* from, std::size_t n, std::size_t to_stride,
                           std::size_t from_stride) {
  auto* out = static_cast<char*>(to);
  auto* in = static_cast<char*>(from);
  for (; n != 0; --n, out += to_stride, in += from_stride) {
    bool has = has_value(t, in);
    if (has) t.element->relocate(*t.element, out, in, 1, t.element->size, t.element->size);
    set_flag(t, out, has);
  }
}

void erased_maybe_destroy(const element_type& t, void* p, std::size_t n) {
  for (auto* at = static_cast<char*>(p); n != 0; --n, at += t.size)
    if (has_value(t, at)) t.element->destroy(*t.element, at, 1);
}

void erased_maybe_copy(const element_type& t, void* to, const void* from, std::size_t n, std::size_t to_stride,
                       std::size_t from_stride) {
  auto* out = static_cast<char*>(to);
  auto* in = static_cast<const char*>(from);
  std::size_t made = 0;
  try {
    for (; made != n; ++made) {
      char* at = out + made * to_stride;
      const char* x = in + made * from_stride;
      bool has = has_value(t, x);
      if (has) t.element->copy(*t.element, at, x, 1, t.element->size, t.element->size);
      set_flag(t, at, has);
    }
  } catch (...) {
    for (; made != 0; --made) erased_maybe_destroy(t, out + (made - 1) * to_stride, 1);
    throw;
  }
}

void erased_maybe_construct(const element_type& t, void* p, std::size_t n, std::size_t stride) {
  for (auto* at = static_cast<char*>(p); n != 0; --n, at += stride) set_flag(t, at, false);
}

std::size_t erased_maybe_footprint(const element_type& t, const void* p, std::size_t n) {
  std::size_t bytes = 0;
  for (auto* at = static_cast<const char*>(p); n != 0; --n, at += t.size)
    if (has_value(t, at)) bytes += t.element->footprint(*t.element, at, 1);
  return bytes;
}

void erased_maybe_compact(const element_type& t, void* p, std::size_t n) {
  for (auto* at = static_cast<char*>(p); n != 0; --n, at += t.size)
    if (has_value(t, at)) t.element->compact(*t.element, at, 1);
}

void erased_maybe_collect(const element_type& t, void* to, void* from, std::size_t n, std::size_t moved, std::size_t) {
  const element_type& e = *t.element;
  if (n != 0 && moved != 0) move_out(e, static_cast<char*>(to), static_cast<char*>(from));
  else if (n != 0) e.copy(e, to, from, 1, e.size, e.size);
  set_flag(t, to, n != 0);
}

const void* erased_maybe_items(const element_type& t, const void* p, std::size_t& n) {
  n = has_value(t, p) ? 1 : 0;
  return n ? p : nullptr;
}

void erased_maybe_print(const element_type& t, const void* p, std::string& out) {
  if (has_value(t, p)) t.element->print(*t.element, p, out);
  else out += "null";
}

/// Returns true if an optional of a T stores its value first, and the flag after it.
template <class T> bool has_flag_behind() {
  alignas(std::optional<T>) unsigned char room[sizeof(std::optional<T>)];
  if (sizeof room != (sizeof(T) + 1 + alignof(T) - 1) / alignof(T) * alignof(T)) return false;
  auto flag = [&] { return *const_cast<volatile unsigned char*>(room + sizeof(T)); };
  auto* o = ::new (static_cast<void*>(room)) std::optional<T>(std::in_place);
  bool behind = flag() == 1 && static_cast<void*>(&**o) == room;
  o->reset();
  behind = behind && flag() == 0;
  o->~optional();
  return behind;
}

bool has_three_pointers() {
  std::vector<std::int32_t> v(2);
  v.reserve(5);
  if (sizeof v != sizeof(list_words)) return false;
  auto w = words_at(&v);
  auto* data = reinterpret_cast<char*>(v.data());
  return w.begin == data && w.end == data + 2 * sizeof(std::int32_t) &&
         w.room_end == data + v.capacity() * sizeof(std::int32_t);
}

}  // namespace

bool lists_have_known_layout() {
  static const bool known = has_three_pointers() && has_flag_behind<std::int64_t>() && has_flag_behind<std::string>() &&
                            has_flag_behind<char>();
  return known;
}

element_type make_list_type(const element_type& element) {
  SLUICE_REQUIRES(lists_have_known_layout(), "lists of this library have another layout");
  element_type t;
  t.name = element.name + "[]";
  t.size = sizeof(list_words);
  t.align = alignof(list_words);
  t.kind = kind::list;
  t.relocatable = true;
  t.element = &element;
  t.destroy = erased_list_destroy;
  if (element.copy) t.copy = erased_list_copy;
  t.construct = erased_list_construct;
  t.footprint = erased_list_footprint;
  if (element.compact) t.compact = erased_list_compact;
  t.collect = erased_list_collect;
  t.items = erased_list_items;
  t.print = erased_list_print;
  return t;
}

element_type make_maybe_type(const element_type& element) {
  SLUICE_REQUIRES(lists_have_known_layout(), "lists of this library have another layout");
  element_type t;
  t.name = element.name + "?";
  t.size = (element.size + 1 + element.align - 1) / element.align * element.align;
  t.align = element.align;
  t.kind = kind::maybe;
  t.relocatable = element.relocatable;
  t.trivially_destroyed = element.trivially_destroyed;
  t.element = &element;
  if (!t.relocatable) t.relocate = erased_maybe_relocate;
  if (!t.trivially_destroyed) t.destroy = erased_maybe_destroy;
  if (element.copy) t.copy = erased_maybe_copy;
  t.construct = erased_maybe_construct;
  t.footprint = erased_maybe_footprint;
  if (element.compact) t.compact = erased_maybe_compact;
  t.collect = erased_maybe_collect;
  t.items = erased_maybe_items;
  t.print = erased_maybe_print;
  return t;
}

}  // namespace sluice::lib::detail
