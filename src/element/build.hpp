// SPDX-License-Identifier: Apache-2.0
// Builds elements at run time, part by part. If a part fails, those already built are destroyed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>

#include "sluice/element/batched.hpp"
#include "sluice/element/value.hpp"

namespace sluice::lib {

/// A value whose element is built in place.
struct value_room {
  /// Calls make(void* uninitialised), which builds an element of t or throws.
  template <class F> static value make(const element_type& t, F make_at) {
    value v;
    void* room = v.allocate(t);
    try {
      make_at(room);
    } catch (...) {
      v.deallocate(t, room);
      throw;
    }
    if (!value::is_inside(t)) v.room_.outside = room;
    v.type_ = &t;
    return v;
  }

  /// Moves the element to uninitialised memory. The value is empty afterwards.
  static void move_out(value& v, void* to) {
    const element_type& t = *v.type_;
    void* from = v.data();
    t.relocate(t, to, from, 1, t.size, t.size);
    v.type_ = nullptr;
    v.deallocate(t, from);
  }
};

namespace detail {

/// Calls make_part(k, type, void* uninitialised) for each member.
template <class F> void make_members(const element_type& t, void* to, F make_part) {
  auto* base = static_cast<char*>(to);
  std::size_t k = 0;
  try {
    for (; k != t.members.size(); ++k) make_part(k, *t.members[k].type, base + t.members[k].offset);
  } catch (...) {
    while (k-- != 0) t.members[k].type->destroy(*t.members[k].type, base + t.members[k].offset, 1);
    throw;
  }
}

/// Builds the structure `t` of some of the members of `all`: calls make_part(k, type, void* uninitialised) for those, and
/// check_part(k, type) for the others, in the order of `all`. REQUIRES: the members of t are members of `all`, in order.
template <class F, class C>
void make_some_members(const element_type& t, const element_type& all, void* to, F make_part, C check_part) {
  auto* base = static_cast<char*>(to);
  std::size_t built = 0;
  try {
    for (std::size_t k = 0; k != all.members.size(); ++k) {
      const element_type& type = *all.members[k].type;
      const bool is_built = built != t.members.size() && t.members[built].name == all.members[k].name;
      if (!is_built) check_part(k, type);
      else make_part(k, type, base + t.members[built].offset), ++built;
    }
  } catch (...) {
    while (built-- != 0) t.members[built].type->destroy(*t.members[built].type, base + t.members[built].offset, 1);
    throw;
  }
}

/// Runs the type's check on an element whose members were built. Errors: throws the check's error, after destroying the
/// element.
inline void check_made(const element_type& t, void* made) {
  status why = t.check ? t.check(made) : status();
  if (why.ok()) return;
  t.destroy(t, made, 1);
  throw_status(std::move(why));
}

/// Calls make_item(i, void* uninitialised) for each of n items of one type.
template <class F> void make_items(const element_type& item, void* to, std::size_t n, F make_item) {
  auto* base = static_cast<char*>(to);
  std::size_t i = 0;
  try {
    for (; i != n; ++i) make_item(i, base + i * item.size);
  } catch (...) {
    if (!item.trivially_destroyed) item.destroy(item, base, i);
    throw;
  }
}

/// Memory for the items of a list before they are moved into it.
class item_room {
 public:
  item_room(const element_type& item, std::size_t n)
      : item_(item), data_(n ? ::operator new(n * item.size, std::align_val_t(item.align)) : nullptr) {}
  item_room(const item_room&) = delete;
  item_room& operator=(const item_room&) = delete;
  ~item_room() {
    if (live_ && !item_.trivially_destroyed) item_.destroy(item_, data_, live_);
    if (data_) ::operator delete(data_, std::align_val_t(item_.align));
  }
  void* data() const noexcept { return data_; }
  /// Declares that the first n items exist. They are destroyed with this object.
  void set_live(std::size_t n) noexcept { live_ = n; }

 private:
  const element_type& item_;
  void* data_;
  std::size_t live_ = 0;
};

/// Builds a list or an optional of n items. make_item as above.
template <class F> void make_list(const element_type& list, void* to, std::size_t n, F make_item) {
  item_room room(*list.element, n);
  make_items(*list.element, room.data(), n, make_item);
  room.set_live(n);
  list.collect(list, to, room.data(), n, n, list.element->size);
}

inline constexpr std::size_t kRowsAtOnce = 256;

/// Builds a batch of n rows.
template <class F> void make_batch(const element_type& t, void* to, std::size_t n, F make_row) {
  const element_type& row = *t.element;
  auto* b = ::new (to) batch_storage;
  try {
    item_room room(row, std::min(n, kRowsAtOnce));
    for (std::size_t i = 0; i < n;) {
      std::size_t k = std::min(n - i, kRowsAtOnce);
      make_items(row, room.data(), k, [&](std::size_t j, void* at) { make_row(i + j, at); });
      room.set_live(k);
      b->append(row, room.data(), k);
      room.set_live(0);
      i += k;
    }
  } catch (...) {
    b->~batch_storage();
    throw;
  }
}

/// Builds a text of these bytes. Errors: throws invalid_argument for classes that do not consist of bytes.
void make_text(const element_type& t, void* to, std::string_view bytes);

}  // namespace detail
}  // namespace sluice::lib
