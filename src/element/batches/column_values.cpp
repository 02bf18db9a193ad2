// SPDX-License-Identifier: Apache-2.0
// Converts C++ values to rows of columns and back, a column at a time.
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <type_traits>

#include "element/optional_numbers.hpp"
#include "element/tensors/tensor_mismatch.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/base/status.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/column.hpp"
#include "sluice/element/slab.hpp"

namespace sluice::lib {
namespace {

/// The number of texts that are gathered at a time, on the stack.
constexpr std::size_t kTextsAtOnce = 128;

const char* plus(const void* p, std::size_t bytes) { return static_cast<const char*>(p) + bytes; }
char* plus(void* p, std::size_t bytes) { return static_cast<char*>(p) + bytes; }

/// Texts that come from a shuffle cost a cache miss each: this number of them is prefetched at a time.
constexpr std::size_t kTextsFetchedAhead = 8;
void fetch_ahead(std::string_view text) {
  const std::size_t size = std::min<std::size_t>(text.size(), 256);  // the processor detects longer accesses itself
  for (std::size_t at = 0; at < size; at += 64) __builtin_prefetch(text.data() + at);
}

/// Calls f(views, k) for the texts at `from`, with at most kTextsAtOnce.
template <class F> void each_texts(const element_type& t, const void* from, std::size_t n, std::size_t stride, F f) {
  std::string_view views[kTextsAtOnce];
  for (std::size_t at = 0; at != n;) {
    std::size_t k = std::min(kTextsAtOnce, n - at);
    t.texts(plus(from, at * stride), k, stride, views);
    f(views, k);
    at += k;
  }
}

void destroy_rows(const element_type& t, void* p, std::size_t n, std::size_t stride) {
  if (t.trivially_destroyed) return;
  if (stride == t.size) return t.destroy(t, p, n);
  for (std::size_t i = 0; i != n; ++i) t.destroy(t, plus(p, i * stride), 1);
}

std::size_t owned_bytes_of(const element_type& t, const void* p, std::size_t n, std::size_t stride) {
  if (t.trivially_destroyed) return 0;
  if (stride == t.size) return t.footprint(t, p, n);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i != n; ++i) bytes += t.footprint(t, plus(p, i * stride), 1);
  return bytes;
}

/// Values that are being built at `to`. If one fails, those already built are destroyed.
class values_in_making {
 public:
  values_in_making(const element_type& t, void* to, std::size_t stride) : type_(t), to_(to), stride_(stride) {}
  values_in_making(const values_in_making&) = delete;
  ~values_in_making() {
    if (!done_) destroy_rows(type_, to_, made_, stride_);
  }
  void* next() const { return plus(to_, made_ * stride_); }
  void add() { ++made_; }
  void done() { done_ = true; }

 private:
  const element_type& type_;
  void* to_;
  std::size_t stride_, made_ = 0;
  bool done_ = false;
};

}  // namespace

// --- Appending values ---

void column::measure(const void* from, std::size_t n, std::size_t stride) {
  if (fixed_size_) return measure_fixed(n);
  switch (form_) {
    case column_form::texts:
      more_rows_ += n;
      each_texts(*type_, from, n, stride, [&](const std::string_view* views, std::size_t k) {
        for (std::size_t i = 0; i != k; ++i) more_bytes_ += views[i].size();
      });
      break;
    case column_form::lists:
      more_rows_ += n;
      for (std::size_t i = 0; i != n; ++i) {
        const void* row = plus(from, i * stride);
        if (type_->kind == kind::batch) {
          measure_batch(*static_cast<const batch_storage*>(row), rows_ + i);
          continue;
        }
        std::size_t k = 0;
        const void* items = type_->items(*type_, row, k);
        if (k != 0) children_[0].measure(items, k, type_->element->size);
      }
      break;
    case column_form::maybe:
      more_rows_ += n;
      for (std::size_t i = 0; i != n; ++i) {
        std::size_t k = 0;
        const void* value = type_->items(*type_, plus(from, i * stride), k);
        if (k != 0) children_[0].measure(value, 1, type_->element->size);
        else children_[0].measure_fixed(1);
      }
      break;
    case column_form::fixed:
      more_rows_ += n;
      for (std::size_t i = 0; i != n; ++i)
        children_[0].measure(plus(from, i * stride), type_->extent, type_->element->size);
      break;
    case column_form::members:
      more_rows_ += n;
      for (std::uint32_t k = 0; k != child_count_; ++k) {
        try {
          children_[k].measure(plus(from, type_->members[k].offset), n, stride);
        } catch (detail::tensor_mismatch& m) {
          m.within(type_->members[k].name);
          throw;
        }
      }
      break;
    case column_form::tensors: measure_tensors(from, n, stride); break;
    case column_form::objects:
      more_rows_ += n;
      more_bytes_ += owned_bytes_of(*type_, from, n, stride);
      break;
    default: break;
  }
}

void column::measure_batch(const batch_storage& b, std::size_t at) {
  if (b.empty()) return;
  const column& rows = b.rows_column();
  try {
    children_[0].measure_column(rows, rows.gone_, rows.rows_ - rows.gone_);
  } catch (detail::tensor_mismatch& m) {
    m.row = at;
    m.within("[]");
    throw;
  }
}

void column::add_plain_rows(std::size_t n) noexcept {
  rows_ += n;
  if (form_ == column_form::fixed) children_[0].add_plain_rows(n * type_->extent);
}

char* column::plain_values() noexcept {
  column* c = this;
  while (c->form_ == column_form::fixed) c = c->children_;
  return c->values();
}

void column::put(void* from, std::size_t n, std::size_t stride) {
  if (n == 0) return;
  if (plain_ || form_ == column_form::objects) {
    // Moves the bytes of whole rows, whatever the array's type.
    type_->relocate(*type_, plain_values() + rows_ * type_->size, from, n, type_->size, stride);
    return add_plain_rows(n);
  }
  switch (form_) {
    case column_form::texts: put_texts(from, n, stride); break;
    case column_form::tensors: put_tensors(from, n, stride); break;
    case column_form::lists:
      if (type_->kind == kind::batch) put_batches(from, n, stride);
      else put_lists(from, n, stride);
      break;
    case column_form::maybe: put_maybes(from, n, stride); break;
    case column_form::fixed:
      for (std::size_t i = 0; i != n; ++i)
        children_[0].put(plus(from, i * stride), type_->extent, type_->element->size);
      rows_ += n;
      break;
    case column_form::members:
      for (std::uint32_t k = 0; k != child_count_; ++k)
        children_[k].put(plus(from, type_->members[k].offset), n, stride);
      rows_ += n;
      break;
    default: break;
  }
}

void column::put_texts(const void* from, std::size_t n, std::size_t stride) {
  std::int32_t* at = writable_offsets() + rows_;
  char* begin = bytes_ ? bytes_->data() : nullptr;
  char* to = begin + *at;
  each_texts(*type_, from, n, stride, [&](const std::string_view* views, std::size_t k) {
    for (std::size_t i = 0; i != std::min(k, kTextsFetchedAhead); ++i) fetch_ahead(views[i]);
    for (std::size_t i = 0; i != k; ++i) {
      if (i + kTextsFetchedAhead < k) fetch_ahead(views[i + kTextsFetchedAhead]);
      if (!views[i].empty()) std::memcpy(to, views[i].data(), views[i].size());
      to += views[i].size();
      *++at = static_cast<std::int32_t>(to - begin);
    }
  });
  rows_ += n;
}

void column::put_lists(const void* from, std::size_t n, std::size_t stride) {
  for (std::size_t i = 0; i != n; ++i) {
    std::size_t k = 0;
    const void* items = type_->items(*type_, plus(from, i * stride), k);
    children_[0].put(const_cast<void*>(items), k, type_->element->size);
    writable_offsets()[++rows_] = static_cast<std::int32_t>(children_[0].rows_);
  }
}

void column::put_batches(void* from, std::size_t n, std::size_t stride) {
  for (std::size_t i = 0; i != n; ++i) {
    auto* b = reinterpret_cast<batch_storage*>(plus(from, i * stride));
    if (!b->empty()) {
      column& rows = b->rows_column();
      std::size_t count = rows.rows_ - rows.gone_;
      children_[0].put_column(rows, rows.gone_, count, giving::moved);
      rows.drop_front(count);
    }
    writable_offsets()[++rows_] = static_cast<std::int32_t>(children_[0].rows_);
  }
}

void column::put_maybes(const void* from, std::size_t n, std::size_t stride) {
  for (std::size_t i = 0; i != n; ++i) {
    std::size_t k = 0;
    const void* value = type_->items(*type_, plus(from, i * stride), k);
    if (k != 0) children_[0].put(const_cast<void*>(value), 1, type_->element->size);
    else children_[0].append_empty(1);  // growth() has allocated the memory
    set_valid(rows_++, k != 0);
  }
}

/// Destroys the values that put() has copied: all but the objects, which it has moved.
void column::destroy_copied(void* from, std::size_t n, std::size_t stride) const {
  if (type_->trivially_destroyed || form_ == column_form::objects) return;
  if (form_ == column_form::members && (has_objects_ || stride != type_->size)) {
    for (std::uint32_t k = 0; k != child_count_; ++k)
      children_[k].destroy_copied(plus(from, type_->members[k].offset), n, stride);
    return;
  }
  destroy_rows(*type_, from, n, stride);
}

void column::append(void* from, std::size_t n, std::size_t stride) {
  grow();
  put(from, n, stride);
  destroy_copied(from, n, stride);
}

void column::append_copies_of(const void* from, std::size_t n, std::size_t stride) {
  SLUICE_REQUIRES(!has_objects_, "a copy of a value that is stored as an object needs its type's copy");
  growth(from, n, stride, 0);
  grow();
  put(const_cast<void*>(from), n, stride);  // moves objects only, and copies everything else
}

// --- Extracting values ---

void column::take(std::size_t first, std::size_t n, void* to, std::size_t stride) {
  give(first, n, to, stride, giving::moved);
}
void column::make(std::size_t first, std::size_t n, void* to, std::size_t stride) const {
  const_cast<column*>(this)->give(first, n, to, stride, giving::copies);
}

void column::give(std::size_t first, std::size_t n, void* to, std::size_t stride, giving how) {
  if (n == 0) return;
  SLUICE_REQUIRES(first <= rows_ && n <= rows_ - first, "the column does not have these rows");
  // Steps that can fail precede the objects, which cannot be moved back.
  if (!has_objects_) return give_part(first, n, to, stride, how, part::all);
  give_part(first, n, to, stride, how, part::without_objects);
  give_part(first, n, to, stride, how, part::objects);
}

void column::give_part(std::size_t first, std::size_t n, void* to, std::size_t stride, giving how, part what) {
  if (what == part::objects && !has_objects_) return;
  if (what == part::without_objects && has_objects_ && form_ != column_form::members) return;
  std::size_t size = type_->size;
  if (plain_) {
    type_->relocate(*type_, to, plain_values() + first * size, n, stride, size);
    return;
  }
  switch (form_) {
    case column_form::objects:
      if (how == giving::moved) move_objects(first, n, to, stride);
      else if (type_->copy) type_->copy(*type_, to, values() + first * size, n, stride, size);
      else throw_status(invalid_argument_error(type_->name + " cannot be copied out of a batch, only moved (unbatch)"));
      break;
    case column_form::texts: type_->make_texts(to, n, stride, bytes_, bytes(), offsets() + first); break;
    case column_form::tensors: give_tensors(first, n, to, stride); break;
    case column_form::lists:
      if (type_->kind == kind::batch) give_batches(first, n, to, stride, how);
      else give_lists(first, n, to, stride);
      break;
    case column_form::maybe: give_maybes(first, n, to, stride); break;
    case column_form::fixed: {
      values_in_making made(*type_, to, stride);
      for (std::size_t i = 0; i != n; ++i, made.add())
        children_[0].give((first + i) * type_->extent, type_->extent, made.next(), type_->element->size, how);
      made.done();
      break;
    }
    case column_form::members: {
      std::uint32_t k = 0;
      try {
        for (; k != child_count_; ++k)
          children_[k].give_part(first, n, plus(to, type_->members[k].offset), stride, how, what);
      } catch (...) {
        while (k-- != 0) children_[k].take_back(n, plus(to, type_->members[k].offset), stride, what);
        throw;
      }
      break;
    }
    default: break;
  }
}

/// Destroys the values that give_part() has built.
void column::take_back(std::size_t n, void* to, std::size_t stride, part what) noexcept {
  if (form_ == column_form::members && has_objects_) {
    for (std::uint32_t k = 0; k != child_count_; ++k)
      children_[k].take_back(n, plus(to, type_->members[k].offset), stride, what);
  } else if (what == part::all || has_objects_ == (what == part::objects)) {
    destroy_rows(*type_, to, n, stride);
  }
}

void column::give_lists(std::size_t first, std::size_t n, void* to, std::size_t stride) {
  column& child = children_[0];
  const element_type& item = *type_->element;
  values_in_making made(*type_, to, stride);
  slab items(item);
  for (const std::int32_t* at = offsets() + first; n != 0; --n, ++at, made.add()) {
    auto from = static_cast<std::size_t>(at[0]), k = static_cast<std::size_t>(at[1] - at[0]);
    if (child.plain_) {
      type_->collect(*type_, made.next(), k ? child.plain_values() + from * item.size : nullptr, k, 0, item.size);
    } else {
      char* room = items.reserve(k);
      child.give(from, k, room, item.size, giving::copies);
      items.set_live(0, k);
      type_->collect(*type_, made.next(), room, k, k, item.size);
    }
  }
  made.done();
}

void column::give_maybes(std::size_t first, std::size_t n, void* to, std::size_t stride) {
  column& child = children_[0];
  const bool are_numbers = child.plain_ && with_optional_number(*type_, [&]<class T>(std::type_identity<T>) {
                             auto* from = reinterpret_cast<const T*>(child.plain_values()) + first;
                             auto* at = static_cast<char*>(to);
                             if (absent_ == 0) {
                               for (std::size_t i = 0; i != n; ++i, at += stride)
                                 ::new (static_cast<void*>(at)) std::optional<T>(from[i]);
                               return;
                             }
                             for (std::size_t i = 0; i != n; ++i, at += stride) {
                               if (valid(first + i)) ::new (static_cast<void*>(at)) std::optional<T>(from[i]);
                               else ::new (static_cast<void*>(at)) std::optional<T>();
                             }
                           });
  if (are_numbers) return;
  const element_type& item = *type_->element;
  values_in_making made(*type_, to, stride);
  slab items(item);
  for (; n != 0; --n, ++first, made.add()) {
    if (!valid(first)) {
      type_->collect(*type_, made.next(), nullptr, 0, 0, item.size);
    } else if (child.plain_) {
      type_->collect(*type_, made.next(), child.plain_values() + first * item.size, 1, 0, item.size);
    } else {
      char* room = items.reserve(1);
      child.give(first, 1, room, item.size, giving::copies);
      items.set_live(0, 1);
      type_->collect(*type_, made.next(), room, 1, 1, item.size);
    }
  }
  made.done();
}

void column::give_batches(std::size_t first, std::size_t n, void* to, std::size_t stride, giving how) {
  values_in_making made(*type_, to, stride);
  for (const std::int32_t* at = offsets() + first; n != 0; --n, ++at) {
    auto* b = ::new (made.next()) batch_storage;
    made.add();
    if (at[0] == at[1]) continue;
    column& rows = b->make_rows(*type_->element);
    rows.append_column(children_[0], static_cast<std::size_t>(at[0]), static_cast<std::size_t>(at[1] - at[0]), how);
  }
  made.done();
}

void column::append_values(const void* from, std::size_t n) {
  char* room = append_values(n);
  if (n) std::memcpy(room, from, n * type_->size);
}

}  // namespace sluice::lib
