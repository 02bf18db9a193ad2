// SPDX-License-Identifier: Apache-2.0
// The arrays of a column: their growth, appending single rows, and removing rows. column_rows.cpp appends rows of other
// columns, column_values.cpp converts them to C++ values.
#include "sluice/element/column.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "base/memory/buffer_arena.hpp"
#include "element/tensors/tensor_mismatch.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/base/status.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {
namespace {

/// The largest array that doubles. Larger ones are whole pages and grow by a quarter.
constexpr std::size_t kDoubledBytesMax = std::size_t{4} << 20;
constexpr std::size_t kArrayBytesMax = ~std::size_t{0} >> 3;

/// Returns true if lists contain these objects as they are. Tensors in lists may differ in shape.
bool keeps_objects(const element_type& t) {
  if (t.kind == kind::named || t.kind == kind::tensor || t.whole || (t.kind == kind::text && !t.make_texts))
    return true;
  if (t.element && keeps_objects(*t.element)) return true;
  return std::any_of(t.members.begin(), t.members.end(), [](const member& m) { return keeps_objects(*m.type); });
}

void check_offset(std::size_t n, const element_type& t) {
  if (n <= column::kOffsetMax) return;
  throw_status(resource_exhausted_error("a column of " + t.name +
                                        " has more than 2^31 - 1 bytes or elements: lower the size of the batch"));
}

std::size_t capacity_of(const buffer* b) { return b ? b->capacity() : 0; }

/// Replaces the array by one of `wanted` bytes, and copies the first `used` bytes.
void regrow(buffer*& b, std::size_t used, std::size_t wanted) {
  buffer* larger = buffer::make_recycled(wanted);
  if (b) {
    std::memcpy(larger->data(), b->data(), used);
    b->drop_references(1);
  }
  b = larger;
}

/// Returns the memory for `need` bytes, and for the additional bytes that `ratio` predicts, within a limit.
std::size_t grown(std::size_t need, double ratio) {
  double most = need > kDoubledBytesMax ? 1.25 : 2;
  return std::max(need, static_cast<std::size_t>(static_cast<double>(need) * std::min(most, ratio)));
}

}  // namespace

column_form form_of(const element_type& t) {
  SLUICE_REQUIRES(can_stack(t), "elements of this type do not stack");
  switch (t.kind) {
    case kind::scalar: return column_form::values;
    case kind::text: return t.make_texts ? column_form::texts : column_form::objects;
    case kind::list: return keeps_objects(t) ? column_form::objects : column_form::lists;
    case kind::array: return keeps_objects(t) ? column_form::objects : column_form::fixed;
    case kind::maybe: return keeps_objects(t) ? column_form::objects : column_form::maybe;
    case kind::batch: return column_form::lists;
    case kind::tensor: return column_form::tensors;
    case kind::structure:
    case kind::pair:
    case kind::tuple: return t.whole ? column_form::objects : column_form::members;
    default: return column_form::objects;
  }
}

std::size_t column::nodes(const element_type& t) {
  std::size_t n = 1;
  switch (form_of(t)) {
    case column_form::lists:
    case column_form::fixed:
    case column_form::maybe: return n + nodes(*t.element);
    case column_form::members:
      for (auto& m : t.members) n += nodes(*m.type);
      return n;
    case column_form::tensors: return n + 1;  // for the tensors' spec
    default: return n;
  }
}

column::column(const element_type& t, column*& free_nodes) : type_(&t), form_(form_of(t)) {
  auto take_nodes = [&](std::size_t n) {
    children_ = free_nodes;
    child_count_ = static_cast<std::uint32_t>(n);
    free_nodes += n;
  };
  switch (form_) {
    case column_form::lists:
    case column_form::fixed:
    case column_form::maybe:
      take_nodes(1);
      ::new (static_cast<void*>(children_)) column(*t.element, free_nodes);
      fixed_size_ = form_ != column_form::lists && children_[0].fixed_size_;
      has_objects_ = children_[0].has_objects_;
      break;
    case column_form::members:
      take_nodes(t.members.size());
      for (std::size_t k = 0; k != t.members.size(); ++k) {
        column* c = ::new (static_cast<void*>(children_ + k)) column(*t.members[k].type, free_nodes);
        fixed_size_ = fixed_size_ && c->fixed_size_;
        has_objects_ = has_objects_ || c->has_objects_;
      }
      break;
    case column_form::texts: fixed_size_ = false; break;
    case column_form::tensors:
      take_nodes(1);
      child_count_ = 0;
      make_spec();
      fixed_size_ = false;
      break;
    case column_form::objects: has_objects_ = true, fixed_size_ = false; break;
    case column_form::values: value_bytes_ = static_cast<std::uint32_t>(t.size); break;
  }
  plain_ = form_ == column_form::values || (form_ == column_form::fixed && children_[0].plain_);
}

void column::release() noexcept {
  if (form_ == column_form::objects) destroy_objects(objects_gone_, rows_);
  if (main_) main_->drop_references(1);
  if (bytes_) bytes_->drop_references(1);
  for (std::uint32_t k = 0; k != child_count_; ++k) children_[k].release();
}

void column::destroy_objects(std::size_t first, std::size_t last) noexcept {
  if (!has_objects_ || first >= last) return;
  switch (form_) {
    case column_form::objects:
      first = std::max(first, objects_gone_);
      if (first >= last) break;
      forget_objects(first, last - first);
      if (!type_->trivially_destroyed) type_->destroy(*type_, values() + first * type_->size, last - first);
      break;
    case column_form::members:
      for (std::uint32_t k = 0; k != child_count_; ++k) children_[k].destroy_objects(first, last);
      break;
    case column_form::lists:
      children_[0].destroy_objects(static_cast<std::size_t>(offsets()[first]),
                                   static_cast<std::size_t>(offsets()[last]));
      break;
    default: break;
  }
}

void column::move_objects(std::size_t first, std::size_t n, void* to, std::size_t stride) {
  if (first != objects_gone_) refuse("a move of objects that it does not own");
  forget_objects(first, n);
  type_->relocate(*type_, to, values() + first * type_->size, n, stride, type_->size);
}

void column::forget_objects(std::size_t first, std::size_t n) noexcept {
  const bool all = first == objects_gone_ && first + n == rows_;
  if (all) owned_bytes_ = 0;
  else if (owned_bytes_ != 0)
    owned_bytes_ -= std::min(owned_bytes_, type_->footprint(*type_, values() + first * type_->size, n));
  if (first == objects_gone_) objects_gone_ = first + n;
}

std::size_t column::main_bytes(std::size_t rows) const noexcept {
  switch (form_) {
    case column_form::values:
    case column_form::objects: return rows * type_->size;
    case column_form::texts:
    case column_form::lists: return (rows + 1) * sizeof(std::int32_t);
    case column_form::maybe: return (rows + 7) / 8;
    case column_form::tensors: return main_bytes_of_tensors(rows);
    default: return 0;
  }
}

std::size_t column::memory_bytes() const noexcept {
  std::size_t bytes = owned_bytes_ + (main_ ? main_->memory_bytes() : 0) + (bytes_ ? bytes_->memory_bytes() : 0);
  for (std::uint32_t k = 0; k != child_count_; ++k) bytes += children_[k].memory_bytes();
  return bytes;
}

// --- Growing ---

void column::move_main(std::size_t wanted) {
  if (form_ == column_form::objects && main_) {
    buffer* larger = buffer::make_recycled(wanted);
    std::size_t first = objects_gone_ * type_->size;
    type_->relocate(*type_, larger->data() + first, values() + first, rows_ - objects_gone_, type_->size, type_->size);
    main_->drop_references(1);
    main_ = larger;
    return;
  }
  bool first = !main_;
  regrow(main_, main_bytes(rows_), wanted);
  if (first && (form_ == column_form::texts || form_ == column_form::lists)) writable_offsets()[0] = 0;
}

void column::ensure_main(std::size_t rows) {
  std::size_t need = main_bytes(rows);
  if (need > capacity_of(main_)) move_main(grown(need, main_ ? 2 : 1));
}

void column::ensure_bytes(std::size_t bytes) {
  check_offset(bytes, *type_);
  if (bytes <= capacity_of(bytes_)) return;
  regrow(bytes_, form_ == column_form::tensors ? used_string_bytes() : used_bytes(), grown(bytes, bytes_ ? 2 : 1));
}

void column::reserve(std::size_t n) {
  switch (form_) {
    case column_form::fixed: return children_[0].reserve(n * type_->extent);
    case column_form::members:
      for (std::uint32_t k = 0; k != child_count_; ++k) children_[k].reserve(n);
      return;
    case column_form::maybe: children_[0].reserve(n); break;
    case column_form::objects: return;  // append() allocates their memory
    default: break;
  }
  if (std::size_t need = main_bytes(rows_ + n); need > capacity_of(main_)) move_main(need);
}

void column::forget_plan() noexcept {
  more_rows_ = more_bytes_ = main_wanted_ = bytes_wanted_ = 0;
  for (std::uint32_t k = 0; k != child_count_; ++k) children_[k].forget_plan();
}

std::size_t column::plan_growth(double ratio, bool thrifty, std::size_t room) {
  std::size_t rows = rows_ + more_rows_, planned = 0;
  const bool tensors = form_ == column_form::tensors;
  const std::size_t row_bytes = tensors ? spec().bytes() : type_->size;
  if (std::max(rows, room) > kArrayBytesMax / std::max<std::size_t>(row_bytes, 8)) {
    if (rows > kArrayBytesMax / std::max<std::size_t>(row_bytes, 8)) throw std::bad_alloc();
    room = rows;
  }
  if (std::size_t need = main_bytes(rows); need > capacity_of(main_)) {
    main_wanted_ = thrifty ? need : room > rows ? main_bytes(room) : room ? need : grown(need, main_ ? ratio : 1);
    planned += buffer::recycled_bytes(main_wanted_);
  }
  switch (form_) {
    case column_form::texts:
    case column_form::tensors:  // more_bytes_: of strings
      if (std::size_t need = (tensors ? used_string_bytes() : used_bytes()) + more_bytes_; need > capacity_of(bytes_)) {
        check_offset(need, *type_);
        bytes_wanted_ = thrifty ? need : grown(need, ratio);
        planned += buffer::recycled_bytes(bytes_wanted_);
      }
      break;
    case column_form::lists:
      check_offset(children_[0].rows_ + children_[0].more_rows_, *type_);
      planned += children_[0].plan_growth(ratio, thrifty, 0);
      break;
    case column_form::objects: planned += more_bytes_; break;
    case column_form::fixed: planned += children_[0].plan_growth(ratio, thrifty, room * type_->extent); break;
    case column_form::maybe: planned += children_[0].plan_growth(ratio, thrifty, room); break;
    case column_form::members:
      for (std::uint32_t k = 0; k != child_count_; ++k) planned += children_[k].plan_growth(ratio, thrifty, room);
      break;
    default: break;
  }
  return planned;
}

std::size_t column::growth(const void* from, std::size_t n, std::size_t stride, std::size_t room, bool thrifty) {
  forget_plan();
  detail::with_words_for_mismatch([&] { measure(from, n, stride); });
  return plan_growth(room ? static_cast<double>(room) / static_cast<double>(rows_ + n) : 2, thrifty, room);
}

void column::grow() {
  if (main_wanted_) move_main(main_wanted_);
  if (bytes_wanted_) regrow(bytes_, form_ == column_form::tensors ? used_string_bytes() : used_bytes(), bytes_wanted_);
  main_wanted_ = bytes_wanted_ = 0;
  if (form_ == column_form::objects) owned_bytes_ += more_bytes_;
  for (std::uint32_t k = 0; k != child_count_; ++k) children_[k].grow();
}

// --- Rows one by one ---

void column::refuse(std::string_view what) const {
  throw_status(invalid_argument_error("a column of " + type_->name + " is given " + std::string(what) +
                                      " (element/column.hpp)"));
}

char* column::append_values(std::size_t n) {
  if (form_ != column_form::values) refuse("values");
  ensure_main(rows_ + n);
  char* room = values() + rows_ * type_->size;
  rows_ += n;
  return room;
}

void column::append_any_text(std::string_view text) {
  ensure_main(rows_ + 1);
  std::size_t used = used_bytes();
  ensure_bytes(used + text.size());
  if (!text.empty()) std::memcpy(bytes_->data() + used, text.data(), text.size());
  writable_offsets()[++rows_] = static_cast<std::int32_t>(used + text.size());
}

void column::append_list() {
  if (form_ != column_form::lists) refuse("a list");
  check_offset(children_[0].rows_, *type_);
  ensure_main(rows_ + 1);
  writable_offsets()[++rows_] = static_cast<std::int32_t>(children_[0].rows_);
}

void column::append_lists_of(std::size_t n, std::size_t size) {
  if (form_ != column_form::lists) refuse("lists");
  check_offset(children_[0].rows_, *type_);
  ensure_main(rows_ + n);
  std::int32_t* offsets = writable_offsets();
  for (; n != 0; --n, ++rows_) offsets[rows_ + 1] = offsets[rows_] + static_cast<std::int32_t>(size);
}

void column::set_valid(std::size_t row, bool valid) noexcept {
  auto& byte = reinterpret_cast<std::uint8_t*>(main_->data())[row / 8];
  unsigned before = row % 8 == 0 ? 0u : byte & ((1u << (row % 8)) - 1);
  byte = static_cast<std::uint8_t>(before | (valid ? 1u << (row % 8) : 0u));
  if (!valid) ++absent_;
}

void column::append_valid(bool valid) {
  if (form_ != column_form::maybe) refuse("an optional");
  ensure_main(rows_ + 1);
  if (!valid) children_[0].append_empty(1);
  set_valid(rows_++, valid);
}

void column::append_texts(const char* bytes, const std::int32_t* offsets, std::size_t n) {
  if (n == 0) return;
  SLUICE_REQUIRES(offsets[0] >= 0 && std::is_sorted(offsets, offsets + n + 1), "the offsets of texts do not fall");
  ensure_main(rows_ + n);
  std::size_t used = used_bytes(), more = static_cast<std::size_t>(offsets[n] - offsets[0]);
  ensure_bytes(used + more);
  if (more != 0) std::memcpy(bytes_->data() + used, bytes + offsets[0], more);
  std::int32_t* out = writable_offsets() + rows_;
  auto shift = static_cast<std::int32_t>(used) - offsets[0];
  for (std::size_t i = 1; i <= n; ++i) out[i] = offsets[i] + shift;
  rows_ += n;
}

void column::append_lists(const std::int32_t* offsets, std::size_t n) {
  if (n == 0) return;
  SLUICE_REQUIRES(offsets[0] >= 0 && std::is_sorted(offsets, offsets + n + 1), "the offsets of lists do not fall");
  check_offset(used_bytes() + static_cast<std::size_t>(offsets[n] - offsets[0]), *type_);
  ensure_main(rows_ + n);
  std::int32_t* out = writable_offsets() + rows_;
  std::int32_t shift = *out - offsets[0];
  for (std::size_t i = 1; i <= n; ++i) out[i] = offsets[i] + shift;
  rows_ += n;
}

void column::append_valid_bits(const std::uint8_t* bits, std::size_t first, std::size_t n) {
  ensure_main(rows_ + n);
  const std::size_t end = first + n;
  std::size_t i = first;
  const auto append_until = [&](std::size_t stop) {
    for (; i != stop; ++i) set_valid(rows_++, !bits || (bits[i / 8] >> (i % 8) & 1) != 0);
  };
  append_until(first + std::min(n, (8 - rows_ % 8) % 8));
  // Whole bytes of this column, whose bits may be in two of `bits`.
  auto* to = reinterpret_cast<std::uint8_t*>(main_ ? main_->data() : nullptr);
  for (; end - i >= 8; i += 8, rows_ += 8) {
    unsigned byte = 0xFF;
    if (bits) byte = bits[i / 8] >> (i % 8) & 0xFFu;
    if (bits && i % 8 != 0) byte |= unsigned{bits[i / 8 + 1]} << (8 - i % 8) & 0xFFu;
    to[rows_ / 8] = static_cast<std::uint8_t>(byte);
    absent_ += static_cast<std::size_t>(8 - std::popcount(byte));
  }
  append_until(end);
}

void column::append_empty(std::size_t n) {
  if (n == 0) return;
  ensure_main(rows_ + n);
  switch (form_) {
    case column_form::values: std::memset(values() + rows_ * type_->size, 0, n * type_->size); break;
    case column_form::texts:
    case column_form::lists: {
      auto* at = writable_offsets() + rows_;
      std::fill(at + 1, at + 1 + n, *at);
      break;
    }
    case column_form::fixed: children_[0].append_empty(n * type_->extent); break;
    case column_form::maybe:
      children_[0].append_empty(n);
      for (std::size_t i = 0; i != n; ++i) set_valid(rows_ + i, false);
      break;
    case column_form::members:
      for (std::uint32_t k = 0; k != child_count_; ++k) children_[k].append_empty(n);
      break;
    case column_form::tensors:
    case column_form::objects:
      throw_status(invalid_argument_error("a column of " + type_->name + " has no empty value"));
  }
  rows_ += n;
}

bool column::is_whole() const noexcept {
  std::size_t wanted = rows_;
  if (form_ == column_form::fixed) wanted *= type_->extent;
  else if (form_ == column_form::lists) wanted = static_cast<std::size_t>(offsets()[rows_]);
  for (std::uint32_t k = 0; k != child_count_; ++k)
    if (children_[k].rows_ != wanted || !children_[k].is_whole()) return false;
  return true;
}

void column::truncate(std::size_t n) noexcept {
  SLUICE_REQUIRES(n <= rows(), "a column cannot be truncated to more rows than it has");
  switch (form_) {
    case column_form::lists: children_[0].truncate(static_cast<std::size_t>(offsets()[n])); break;
    case column_form::fixed: children_[0].truncate(n * type_->extent); break;
    case column_form::maybe:
      children_[0].truncate(n);
      for (std::size_t i = n; i < rows_; ++i) absent_ -= valid(i) ? 0 : 1;
      break;
    case column_form::members:
      for (std::uint32_t k = 0; k != child_count_; ++k) children_[k].truncate(n);
      break;
    case column_form::objects:
      destroy_objects(n, rows_);
      objects_gone_ = std::min(objects_gone_, n);
      break;
    default: break;
  }
  rows_ = n;
}

std::size_t column::settled_bytes() const noexcept {
  std::size_t bytes = 0;
  if (main_) bytes += buffer_arena::size_of(main_bytes(rows_));
  if (bytes_) bytes += buffer_arena::size_of(used_bytes());
  for (std::uint32_t k = 0; k != child_count_; ++k) bytes += children_[k].settled_bytes();
  return bytes;
}

void column::settle(buffer_arena& arena) noexcept {
  const auto move = [&](buffer*& array, std::size_t used) {
    buffer* settled = arena.make(used);
    std::memcpy(settled->data(), array->data(), used);
    std::exchange(array, settled)->drop_references(1);
  };
  if (main_) move(main_, main_bytes(rows_));
  if (bytes_) move(bytes_, used_bytes());
  for (std::uint32_t k = 0; k != child_count_; ++k) children_[k].settle(arena);
}

void column::drop_front(std::size_t n) noexcept {
  SLUICE_REQUIRES(n <= rows() - gone_, "more rows are dropped than the column has");
  destroy_objects(gone_, gone_ + n);
  gone_ += n;
}

}  // namespace sluice::lib
