// SPDX-License-Identifier: Apache-2.0
// Where the values of a tf.Example go: the fields of a struct, or a row of columns.
//
// A row has begin(slot's index), room(values) for numbers, the values in order, and end(values); or
// missing(slot's index) for an optional; forget_owner() if bytes are not in the record; clear() for an unfinished row.
// Owns:   nothing; slots and destination must outlive it.
// Thread: none.
#pragma once

#include <absl/strings/str_cat.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/element/column.hpp"
#include "sluice/element/tensor.hpp"
#include "sluice/format/example_schema.hpp"

namespace sluice::lib::detail {

/// Ends the present row of a member whose values were stored.
inline void end_member(column& member) {
  switch (member.form()) {
    case column_form::lists: return member.append_list();
    case column_form::fixed: return member.append_row();
    case column_form::maybe: end_member(member.child(0)); return member.append_valid(true);
    default: return;
  }
}

/// Returns the spec of a tensor with this number of values.
inline tensor_spec spec_of(const feature_slot& slot, std::size_t values) {
  std::vector<std::int64_t> dims = slot.shape;
  if (dims[0] == feature_slot::kUnknown) dims[0] = static_cast<std::int64_t>(values / slot.each);
  const dtype d = slot.kind == feature_kind::floats   ? dtype::float32
                  : slot.kind == feature_kind::int64s ? dtype::int64
                                                      : dtype::string;
  return {d, dims};
}

/// The fields of a struct.
class field_row {
 public:
  field_row(const std::vector<feature_slot>& slots, void* to, buffer* owner) : slots_(slots), to_(to), owner_(owner) {}

  void clear() { texts_.clear(); }  // each field is written again
  void begin(std::size_t i) {
    slot_ = &slots_[i];
    field_ = first_ = static_cast<char*>(to_) + slot_->offset;
    is_tensor_ = slot_->form == field_form::tensor;
  }
  void forget_owner() { owner_ = nullptr; }
  void room(std::size_t count) {
    if (slot_->resize) first_ = slot_->resize(*slot_, field_, count);
    else if (is_tensor_) first_ = room_of_tensor(count);
  }
  void bytes(std::size_t i, std::string_view value) {
    if (is_tensor_) return texts_.push_back(value);
    slot_->store(slot_->resize ? slot_->resize(*slot_, field_, i + 1) : field_, i, value, owner_);
  }
  void floats(std::size_t i, const char* raw, std::size_t count) {
    if (count) std::memcpy(static_cast<float*>(first_) + i, raw, count * sizeof(float));
  }
  void int64(std::size_t i, std::int64_t value) { static_cast<std::int64_t*>(first_)[i] = value; }
  void int64s(const char* raw, std::size_t count) {
    if (count) std::memcpy(first_, raw, count * sizeof(std::int64_t));
  }
  void end(std::size_t count) {
    if (slot_->resize) slot_->resize(*slot_, field_, count);  // removes values that the struct had before
    else if (is_tensor_ && slot_->kind == feature_kind::bytes) end_texts();
  }
  void missing(std::size_t i) { slots_[i].reset(slots_[i], static_cast<char*>(to_) + slots_[i].offset); }
  /// Stores a sparse or ragged tensor.
  template <class T> void object(std::size_t i, T made) {
    *reinterpret_cast<T*>(static_cast<char*>(to_) + slots_[i].offset) = std::move(made);
  }

 private:
  void* room_of_tensor(std::size_t count) {
    auto& t = *static_cast<tensor*>(field_);
    const tensor_spec spec = spec_of(*slot_, count);
    if (!t.is_writable() || t.spec() != spec) t = tensor::make(spec.dtype, spec.shape);
    return t.empty() ? nullptr : t.writable_data();
  }
  void end_texts() {
    const tensor_spec spec = spec_of(*slot_, texts_.size());
    *static_cast<tensor*>(field_) = tensor::of(std::span<const std::string_view>(texts_), spec.shape);
    texts_.clear();
  }

  const std::vector<feature_slot>& slots_;
  void* const to_;
  buffer* owner_;
  std::vector<std::string_view> texts_{};  ///< for a tensor of strings
  const feature_slot* slot_ = nullptr;
  bool is_tensor_ = false;
  void *field_ = nullptr, *first_ = nullptr;
};

/// A row of columns.
class column_row {
 public:
  column_row(const std::vector<feature_slot>& slots, column& rows) : slots_(slots), rows_(rows), row_(rows.rows()) {}

  void clear() {
    rows_.truncate(row_);
    texts_.clear();
  }
  void forget_owner() {}
  void begin(std::size_t i) {
    slot_ = &slots_[i];
    is_tensor_ = slot_->form == field_form::tensor;
    member_ = values_ = &rows_.child(slot_->child);
    while (values_->children()) values_ = &values_->child(0);
  }
  void room(std::size_t count) {
    if (is_tensor_) named([&] { tensor_ = member_->append_tensor(spec_of(*slot_, count)); });
  }
  /// Stores a sparse or ragged tensor.
  template <class T> void object(std::size_t i, T made) {
    alignas(T) std::byte room[sizeof(T)];
    T* at = ::new (static_cast<void*>(room)) T(std::move(made));
    try {
      column& member = rows_.child(slots_[i].child);
      member.growth(at, 1, sizeof(T), 0);
      member.append(at, 1, sizeof(T));
    } catch (...) {
      at->~T();
      throw;
    }
  }
  void bytes(std::size_t, std::string_view value) {
    if (is_tensor_) return texts_.push_back(value);
    values_->append_text(value);
  }
  void floats(std::size_t i, const char* raw, std::size_t count) {
    if (!is_tensor_) return values_->append_values<float>(raw, count);
    if (count) std::memcpy(tensor_ + i * sizeof(float), raw, count * sizeof(float));
  }
  void int64(std::size_t i, std::int64_t value) {
    if (!is_tensor_) return values_->append_value(value);
    std::memcpy(tensor_ + i * sizeof value, &value, sizeof value);
  }
  void int64s(const char* raw, std::size_t count) {
    if (!is_tensor_) return values_->append_values<std::int64_t>(raw, count);
    if (count) std::memcpy(tensor_, raw, count * sizeof(std::int64_t));
  }
  void end(std::size_t) {
    if (!is_tensor_) return end_member(*member_);
    if (slot_->kind == feature_kind::bytes) end_texts();
  }
  void missing(std::size_t i) { rows_.child(slots_[i].child).append_valid(false); }

 private:
  void end_texts() {
    const tensor_spec spec = spec_of(*slot_, texts_.size());
    named([&] { member_->append_tensor(tensor::of(std::span<const std::string_view>(texts_), spec.shape)); });
    texts_.clear();
  }
  /// Adds the member's name to the errors of f.
  template <class F> void named(F f) {
    try {
      f();
    } catch (const error& e) {
      throw error(
          e.why().with_message(absl::StrCat("member ", slot_->member_name(), ": ", std::string(e.why().message()))));
    }
  }

  const std::vector<feature_slot>& slots_;
  column& rows_;
  const std::size_t row_;
  const feature_slot* slot_ = nullptr;
  bool is_tensor_ = false;
  column *member_ = nullptr, *values_ = nullptr;
  char* tensor_ = nullptr;                 ///< the bytes of the present row
  std::vector<std::string_view> texts_{};  ///< for a tensor of strings
};

}  // namespace sluice::lib::detail
