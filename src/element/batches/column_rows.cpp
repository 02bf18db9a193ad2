// SPDX-License-Identifier: Apache-2.0
// Appends rows of other columns: they are measured, then copied or moved.
#include <cstring>

#include "element/tensors/tensor_mismatch.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/element/column.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {

void column::measure_fixed(std::size_t n) {
  more_rows_ += n;
  if (form_ == column_form::fixed) n *= type_->extent;
  if (form_ == column_form::lists) return;  // the lists are empty
  for (std::uint32_t k = 0; k != child_count_; ++k) children_[k].measure_fixed(n);
}

void column::measure_column(const column& from, std::size_t first, std::size_t n) {
  if (n == 0) return;
  if (fixed_size_) return measure_fixed(n);
  more_rows_ += n;
  switch (form_) {
    case column_form::texts:
      more_bytes_ += static_cast<std::size_t>(from.offsets()[first + n] - from.offsets()[first]);
      break;
    case column_form::lists: {
      auto at = static_cast<std::size_t>(from.offsets()[first]);
      children_[0].measure_column(from.children_[0], at, static_cast<std::size_t>(from.offsets()[first + n]) - at);
      break;
    }
    case column_form::fixed:
      children_[0].measure_column(from.children_[0], first * type_->extent, n * type_->extent);
      break;
    case column_form::objects:
      if (!type_->trivially_destroyed) more_bytes_ += type_->footprint(*type_, from.values() + first * type_->size, n);
      break;
    case column_form::tensors:
      match(from.spec().dtype, from.spec().shape.dims(), rows_ + more_rows_ - n);
      if (has_strings()) {
        const std::int32_t* at = from.offsets() + first * row_elements();
        more_bytes_ += static_cast<std::size_t>(at[n * row_elements()] - at[0]);
      }
      break;
    default:
      for (std::uint32_t k = 0; k != child_count_; ++k) {
        try {
          children_[k].measure_column(from.children_[k], first, n);
        } catch (detail::tensor_mismatch& m) {
          m.within(k < type_->members.size() ? type_->members[k].name : "[]");
          throw;
        }
      }
  }
}

void column::put_column(column& from, std::size_t first, std::size_t n, giving how) {
  if (n == 0) return;
  std::size_t size = type_->size;
  switch (form_) {
    case column_form::values: std::memcpy(values() + rows_ * size, from.values() + first * size, n * size); break;
    case column_form::objects:
      SLUICE_REQUIRES(how == giving::moved || type_->copy, "values of this type cannot be copied");
      if (how == giving::moved) from.move_objects(first, n, values() + rows_ * size, size);
      else type_->copy(*type_, values() + rows_ * size, from.values() + first * size, n, size, size);
      break;
    case column_form::tensors: put_tensors_of(from, first, n); break;
    case column_form::texts:
    case column_form::lists: {
      const std::int32_t* in = from.offsets() + first;
      std::int32_t* out = writable_offsets() + rows_;
      std::int32_t shift = *out - *in;
      auto begin = static_cast<std::size_t>(in[0]), size_in = static_cast<std::size_t>(in[n] - in[0]);
      if (form_ == column_form::lists) children_[0].put_column(from.children_[0], begin, size_in, how);
      else if (size_in != 0) std::memcpy(bytes_->data() + *out, from.bytes() + begin, size_in);
      for (std::size_t i = 1; i <= n; ++i) out[i] = in[i] + shift;
      break;
    }
    case column_form::fixed:
      children_[0].put_column(from.children_[0], first * type_->extent, n * type_->extent, how);
      break;
    case column_form::maybe:
      children_[0].put_column(from.children_[0], first, n, how);
      for (std::size_t i = 0; i != n; ++i) set_valid(rows_ + i, from.valid(first + i));
      break;
    case column_form::members:
      for (std::uint32_t k = 0; k != child_count_; ++k) children_[k].put_column(from.children_[k], first, n, how);
      break;
  }
  rows_ += n;
}

void column::append_column(column& from, std::size_t first, std::size_t n, giving how) {
  // Returns false if the rows do not fit, or if the memory that they take depends on their contents.
  auto has_room = [](const column& c, std::size_t more, auto& self) -> bool {
    if (!c.fixed_size_ || c.main_bytes(c.rows_ + more) > (c.main_ ? c.main_->capacity() : 0)) return false;
    if (c.form_ == column_form::fixed) more *= c.type_->extent;
    for (std::uint32_t k = 0; k != c.child_count_; ++k)
      if (!self(c.children_[k], more, self)) return false;
    return true;
  };
  if (!has_room(*this, n, has_room)) {
    forget_plan();
    detail::with_words_for_mismatch([&] { measure_column(from, first, n); });
    plan_growth(rows_ == 0 ? 1 : 2, false, 0);
    grow();
  }
  put_column(from, first, n, how);
}

void column::append_copies(const column& from, std::size_t first, std::size_t n) {
  SLUICE_REQUIRES(first <= from.rows_ && n <= from.rows_ - first, "the other column does not have these rows");
  append_column(const_cast<column&>(from), first, n, giving::copies);
}
void column::append_from(column& from, std::size_t first, std::size_t n) {
  SLUICE_REQUIRES(first <= from.rows_ && n <= from.rows_ - first, "the other column does not have these rows");
  append_column(from, first, n, giving::moved);
}

}  // namespace sluice::lib
