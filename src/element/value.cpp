// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/value.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "element/build.hpp"
#include "element/element_ref.hpp"
#include "element/scalars.hpp"
#include "sluice/base/content_hash.hpp"

namespace sluice::lib {

using detail::element_ref;

// --- Storage ---

bool value::is_inside(const element_type& t) noexcept {
  // Moving a string cannot fail. Of the program's classes, only those that are moved bytewise certainly cannot.
  return t.size <= kInsideBytes && t.align <= 8 && (t.relocatable || &t == &type_of<std::string>());
}

void* value::allocate(const element_type& t) {
  return is_inside(t) ? room_.inside : ::operator new(t.size, std::align_val_t(std::max(t.align, alignof(void*))));
}

void value::deallocate(const element_type& t, void* room) noexcept {
  if (!is_inside(t)) ::operator delete(room, std::align_val_t(std::max(t.align, alignof(void*))));
}

void value::take(value& o) noexcept {
  type_ = std::exchange(o.type_, nullptr);
  if (!type_) return;
  if (is_inside(*type_)) type_->relocate(*type_, room_.inside, o.room_.inside, 1, type_->size, type_->size);
  else room_.outside = o.room_.outside;
}

void value::reset() noexcept {
  if (!type_) return;
  void* at = data();
  if (!type_->trivially_destroyed) type_->destroy(*type_, at, 1);
  deallocate(*std::exchange(type_, nullptr), at);
}

value::value(const element_type& t, void* from) {
  void* to = allocate(t);
  try {
    t.relocate(t, to, from, 1, t.size, t.size);
  } catch (...) {
    deallocate(t, to);
    throw;
  }
  if (!is_inside(t)) room_.outside = to;
  type_ = &t;
}

value value::copy_of(const element_type& t, const void* from) {
  if (!t.copy) throw_status(invalid_argument_error(type_text(t) + " cannot be copied"));
  return value_room::make(t, [&](void* to) { t.copy(t, to, from, 1, t.size, t.size); });
}

value value::empty_of(const element_type& t) {
  if (!t.construct) throw_status(invalid_argument_error(type_text(t) + " has no default constructor"));
  return value_room::make(t, [&](void* to) { t.construct(t, to, 1, t.size); });
}

value::value(const value& o) {
  if (!o.type_) return;
  value copy = copy_of(*o.type_, o.data());
  take(copy);
}

void value::refuse(const element_type& wanted) const {
  throw_status(invalid_argument_error(
      absl::StrCat("expected ", type_text(wanted), ", got ", type_ ? type_text(*type_) : "no value")));
}

// --- Parts ---

std::size_t value::size() const {
  if (!type_) return 0;
  if (type_->has_members()) return type_->members.size();
  return type_->element ? element_ref(*type_, data()).items().size() : 0;
}

namespace {

/// Returns a copy of a column's row as a value.
value copy_of_row(const element_type& batch, const void* p, std::size_t row) {
  auto& rows = static_cast<const batch_storage*>(p)->rows_column();
  const element_type& t = *batch.element;
  return value_room::make(t, [&](void* to) { rows.make(rows.gone_in_front() + row, 1, to, t.size); });
}

}  // namespace

value value::at(std::size_t index) const {
  if (index >= size())
    throw_status(out_of_range_error(
        absl::StrCat("part ", index, " of ", type_ ? type_text(*type_) : "no value", ", which has ", size())));
  if (type_->kind == kind::batch) {
    if (!type_->copy) throw_status(invalid_argument_error(type_text(*type_) + " cannot be copied"));
    return copy_of_row(*type_, data(), index);
  }
  element_ref self(*type_, data());
  element_ref part = type_->has_members() ? self.member(index) : self.items()[index];
  return copy_of(part.type(), part.address());
}

value value::at(std::string_view name) const {
  if (type_ && type_->has_members())
    for (std::size_t k = 0; k != type_->members.size(); ++k)
      if (type_->members[k].name == name) return at(k);
  throw_status(invalid_argument_error(
      absl::StrCat(type_ ? type_text(*type_) : "no value", " has no member ", std::string(name))));
}

std::string value::print() const {
  std::string out;
  if (type_) lib::print(*type_, data(), out);
  else out = "null";
  return out;
}

// --- Order ---

bool is_ordered(const element_type& t) {
  switch (t.kind) {
    case kind::scalar:
    case kind::text:
    case kind::tensor: return true;
    case kind::array:
    case kind::list:
    case kind::maybe:
    case kind::batch: return is_ordered(*t.element);
    case kind::structure:
    case kind::pair:
    case kind::tuple:
      return std::all_of(t.members.begin(), t.members.end(), [](const member& m) { return is_ordered(*m.type); });
    default: return false;
  }
}

namespace {

template <class T> T number_at(const void* p) {
  T x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

template <class T> std::weak_ordering compare_numbers(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) <=> std::isnan(b);
    return a < b ? std::weak_ordering::less : a > b ? std::weak_ordering::greater : std::weak_ordering::equivalent;
  } else {
    return a <=> b;
  }
}

std::weak_ordering compare_refs(element_ref a, element_ref b) {
  const element_type& t = a.type();
  switch (t.kind) {
    case kind::scalar:
      return detail::with_number(t, [&]<class T>(std::type_identity<T>) {
        return compare_numbers(number_at<T>(a.address()), number_at<T>(b.address()));
      });
    case kind::text: return a.text() <=> b.text();
    case kind::tensor: {
      tensor x = a.tensor(), y = b.tensor();
      if (x == y) return std::weak_ordering::equivalent;
      // The same order in every process, for tables and sets: dtype, shape, then bytes.
      if (x.dtype() != y.dtype()) return x.dtype() <=> y.dtype();
      if (!std::ranges::equal(x.shape(), y.shape()))
        return std::lexicographical_compare_three_way(x.shape().begin(), x.shape().end(), y.shape().begin(),
                                                      y.shape().end());
      if (x.dtype() == dtype::string) {
        for (std::size_t i = 0; i != x.size(); ++i)
          if (auto c = x.text(i) <=> y.text(i); c != 0) return c;
        return std::weak_ordering::equivalent;
      }
      return std::memcmp(x.data(), y.data(), x.size_bytes()) <=> 0;
    }
    case kind::structure:
    case kind::pair:
    case kind::tuple:
      for (std::size_t k = 0; k != t.members.size(); ++k)
        if (auto c = compare_refs(a.member(k), b.member(k)); c != 0) return c;
      return std::weak_ordering::equivalent;
    default: {
      auto x = a.items(), y = b.items();
      for (std::size_t i = 0; i != std::min(x.size(), y.size()); ++i)
        if (auto c = compare_refs(x[i], y[i]); c != 0) return c;
      return x.size() <=> y.size();
    }
  }
}

void hash_ref(element_ref e, detail::content_hasher& h) {
  const element_type& t = e.type();
  switch (t.kind) {
    case kind::scalar:
      return detail::with_number(t, [&]<class T>(std::type_identity<T>) {
        T x = number_at<T>(e.address());
        if constexpr (std::is_floating_point_v<T>) {
          double d = x == 0 ? 0.0 : static_cast<double>(x);
          h.word(std::isnan(d) ? 0x7ff8000000000000u : number_at<std::uint64_t>(&d));
        } else {
          h.word(static_cast<std::uint64_t>(x));
        }
      });
    case kind::text: return h.bytes(e.text().data(), e.text().size());
    case kind::tensor: return h.word(e.tensor().hash());
    case kind::structure:
    case kind::pair:
    case kind::tuple:
      h.word(t.members.size());
      for (std::size_t k = 0; k != t.members.size(); ++k) hash_ref(e.member(k), h);
      return;
    default: {
      auto items = e.items();
      h.word(items.size());
      for (std::size_t i = 0; i != items.size(); ++i) hash_ref(items[i], h);
    }
  }
}

}  // namespace

std::partial_ordering compare(const element_type& t, const void* a, const void* b) {
  if (!is_ordered(t)) return std::partial_ordering::unordered;
  return compare_refs({t, a}, {t, b});
}

std::partial_ordering operator<=>(const value& a, const value& b) {
  if (!a.type_ || !b.type_) return a.has_value() <=> b.has_value();
  if (!is_same_type(*a.type_, *b.type_)) return std::partial_ordering::unordered;
  return compare(*a.type_, a.data(), b.data());
}

std::uint64_t hash_of(const element_type& t, const void* p) {
  if (!is_ordered(t))
    throw_status(invalid_argument_error(type_text(t) + " has no hash: the library does not know all of its parts"));
  detail::content_hasher h;
  hash_ref({t, p}, h);
  return h.value();
}

std::uint64_t value::hash() const { return type_ ? hash_of(*type_, data()) : 0; }

namespace detail {

void make_text(const element_type& t, void* to, std::string_view bytes) {
  if (!t.make_texts)
    throw_status(invalid_argument_error(type_text(t) + " is a class of texts that cannot be made of their bytes"));
  if (bytes.size() > column::kOffsetMax) throw_status(element_limit_error("a text of more than 2^31 - 1 bytes"));
  const std::int32_t offsets[] = {0, static_cast<std::int32_t>(bytes.size())};
  if (bytes.empty()) return t.make_texts(to, 1, t.size, nullptr, bytes.data(), offsets);
  // Values that share bytes take references of their own; strings ignore the buffer.
  if (&t == &type_of<std::string>()) return t.make_texts(to, 1, t.size, nullptr, bytes.data(), offsets);
  buffer_ref owner(buffer::make_exact(bytes.size()));
  std::memcpy(owner->data(), bytes.data(), bytes.size());
  t.make_texts(to, 1, t.size, owner.get(), owner->data(), offsets);
}

}  // namespace detail

}  // namespace sluice::lib
