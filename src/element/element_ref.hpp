// SPDX-License-Identifier: Apache-2.0
// A reference to one element: at an address, or as a row of a column, whose values are not built for that. Functions
// that compare, hash and serialize elements traverse them with it.
#pragma once

#include <cstddef>
#include <new>
#include <string_view>

#include "sluice/base/assert.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/tensor.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib::detail {

class item_refs;

class element_ref {
 public:
  element_ref(const element_type& t, const void* p) noexcept : type_(&t), at_(static_cast<const char*>(p)) {}
  element_ref(const column& c, std::size_t row) noexcept : type_(&c.type()) {
    if (c.form() == column_form::values || c.form() == column_form::objects) at_ = c.values() + row * type_->size;
    else column_ = &c, row_ = row;
  }

  const element_type& type() const noexcept { return *type_; }
  /// Returns null for an element that is spread over several arrays of columns, and never for numbers and objects.
  const void* address() const noexcept { return at_; }
  /// Returns the value of a text.
  std::string_view text() const { return column_ ? column_->text(row_) : type_->text(at_); }
  lib::tensor tensor() const {
    return column_ ? column_->tensor_of(row_, 1)[0] : *std::launder(reinterpret_cast<const lib::tensor*>(at_));
  }
  /// Returns the k-th member of a structure, pair or tuple.
  element_ref member(std::size_t k) const {
    const lib::member& m = type_->members[k];
    return column_ ? element_ref(column_->child(k), row_) : element_ref(*m.type, at_ + m.offset);
  }
  /// Returns the items of an array, a list, an optional (none or one) or a batch (its rows).
  item_refs items() const;

 private:
  const element_type* type_;
  const char* at_ = nullptr;
  const column* column_ = nullptr;
  std::size_t row_ = 0;
};

class item_refs {
 public:
  item_refs(const element_type& t, const void* first, std::size_t n) noexcept
      : type_(&t), first_(static_cast<const char*>(first)), size_(n) {}
  item_refs(const element_type& t, const column* c, std::size_t first_row, std::size_t n) noexcept
      : type_(&t), column_(n ? c : nullptr), row_(first_row), size_(n) {}

  std::size_t size() const noexcept { return size_; }
  const element_type& type() const noexcept { return *type_; }
  element_ref operator[](std::size_t i) const noexcept {
    return column_ ? element_ref(*column_, row_ + i) : element_ref(*type_, first_ + i * type_->size);
  }
  /// Returns adjacent numbers. REQUIRES: the items are numbers, and there is at least one.
  const char* numbers() const noexcept {
    SLUICE_REQUIRES(size_ != 0, "there are no items");
    return static_cast<const char*>((*this)[0].address());
  }

 private:
  const element_type* type_;
  const char* first_ = nullptr;
  const column* column_ = nullptr;
  std::size_t row_ = 0;
  std::size_t size_;
};

inline item_refs element_ref::items() const {
  const element_type& item = *type_->element;
  if (column_) {
    const column* child = &column_->child(0);
    if (type_->kind == kind::array) return {item, child, row_ * type_->extent, type_->extent};
    if (type_->kind == kind::maybe) return {item, child, row_, column_->valid(row_) ? std::size_t{1} : 0};
    auto first = static_cast<std::size_t>(column_->offsets()[row_]);
    return {item, child, first, static_cast<std::size_t>(column_->offsets()[row_ + 1]) - first};
  }
  if (type_->kind == kind::array) return {item, at_, type_->extent};
  if (type_->kind == kind::batch) {
    auto* b = reinterpret_cast<const batch_storage*>(at_);
    if (b->empty()) return {item, nullptr, 0};
    return {item, &b->rows_column(), b->rows_column().gone_in_front(), static_cast<std::size_t>(b->rows())};
  }
  std::size_t n = 0;
  const void* first = type_->items(*type_, at_, n);
  return {item, first, n};
}

}  // namespace sluice::lib::detail
