// SPDX-License-Identifier: Apache-2.0
// Shared by the sources that import arrays: a range of values, and the checks before one is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "arrow/formats.hpp"
#include "arrow/ipc_formats.hpp"
#include "sluice/element/dtype.hpp"
#include "sluice/element/column.hpp"

namespace sluice::lib::arrow {

/// Larger lengths and offsets cannot be true, and the sum of two smaller ones does not overflow.
inline constexpr std::int64_t kLengthMax = std::int64_t{1} << 61;
/// The number of rows whose offsets are checked and appended together.
inline constexpr std::size_t kRowsAtATime = 1024;

inline std::string_view field_name(const ArrowSchema* s) { return s && s->name ? s->name : ""; }
inline bool has_child(const ArrowSchema& s, std::int64_t k) { return k < s.n_children && s.children && s.children[k]; }

/// Returns N for the format "+w:N"; -1 for another format.
inline std::int64_t width_of(const ArrowSchema& s) {
  const ipc_form form = ipc_form_of(ipc_format_of(s));
  return form.layout == ipc_layout::fixed_lists ? form.width : -1;
}

/// Returns true for a fixed-size list with the values of tensors, which may have any number of dimensions.
inline bool is_flat(const ArrowSchema& s) {
  return width_of(s) >= 0 && s.n_children == 1 && width_of(*s.children[0]) < 0;
}

/// Returns the dtype of numbers of a format; nullopt if tensors have no such numbers.
std::optional<dtype> dtype_of_format(std::string_view format);

/// Returns the elements of arrays of arrays. `n`: their number in one value.
const element_type& innermost_of(const element_type& t, std::size_t& n);

/// Maps the members of a type to the children of a struct. The children for a structure are found by name.
class children_of {
 public:
  children_of(const element_type& t, const ArrowSchema& s) : t_(t), s_(s) {}

  /// Returns -1 if no child matches; -2 if two children have the member's name.
  std::int64_t child_for(std::size_t k) {
    if (t_.kind != kind::structure) return static_cast<std::int64_t>(k);
    if (children_.empty())
      for (std::int64_t i = 0; i < s_.n_children; ++i) {
        if (!has_child(s_, i)) continue;
        const auto [at, is_new] = children_.try_emplace(field_name(s_.children[i]), i);
        if (!is_new) at->second = -2;
      }
    const auto found = children_.find(t_.members[k].name);
    return found == children_.end() ? -1 : found->second;
  }
  /// The same for a schema that check_schema has accepted. Most children have the position of their member.
  std::int64_t checked_child_for(std::size_t k) {
    const auto i = static_cast<std::int64_t>(k);
    const bool is_in_place = i < s_.n_children && has_child(s_, i) && field_name(s_.children[i]) == t_.members[k].name;
    return is_in_place ? i : child_for(k);
  }

 private:
  const element_type& t_;
  const ArrowSchema& s_;
  std::unordered_map<std::string_view, std::int64_t> children_{};
};

/// Checks that arrays of this schema can become values of this type.
status check_schema(const element_type& t, const ArrowSchema& s, const place& where);

/// Returns the column of a record batch that contains rows which are not structures; -1 if it has none or several.
std::int64_t value_column(const ArrowSchema& s);

status broken(const place& where, std::string_view what);

/// Checks that all data needed to read the first `rows` values exists. `rows` does not count the offset.
status check_node(const ArrowSchema& s, const ArrowArray& a, std::size_t rows, const place& where);

inline bool bit(const void* bits, std::size_t i) {
  return (static_cast<const std::uint8_t*>(bits)[i / 8] >> (i % 8) & 1) != 0;
}

template <class T> T loaded(const void* p, std::size_t i) {
  T v;
  std::memcpy(&v, static_cast<const char*>(p) + i * sizeof(T), sizeof(T));  // foreign memory need not be aligned
  return v;
}

/// Reads the offsets of a column of texts or lists: 32 or 64 bits, or multiples of a width.
struct offset_reader {
  const void* at;
  bool is_wide;
  std::int64_t width;  ///< -1: `at` points to offsets

  std::int64_t operator[](std::size_t i) const {
    if (width >= 0) return width * static_cast<std::int64_t>(i);
    return is_wide ? loaded<std::int64_t>(at, i) : loaded<std::int32_t>(at, i);
  }
};

/// A range of values of an array; `first` does not count the array's offset.
struct values {
  const ArrowSchema& s;
  const ArrowArray& a;
  std::size_t first;
  std::size_t n;

  std::size_t begin() const { return static_cast<std::size_t>(a.offset) + first; }
  const void* buffer(std::size_t k) const { return a.buffers[k]; }
};

/// `nulls_settled`: the caller has checked the validity.
status append_values(column& to, const values& from, bool nulls_settled, const place& where);

/// Finds the error of append_values() to an empty column of this type, without appending (import_check.cpp).
status check_values(const element_type& t, const values& from, bool nulls_settled, const place& where);
/// Appends rows to the structures `to`, and checks the other members of `whole`.
status append_some_members(column& to, const element_type& whole, const values& from, const place& where);
/// Appends values for a member that the stream does not have.
status append_absent(column& to, std::size_t n, const place& where);
/// Returns the first value from `first` on whose bit is `set`; `end` if no value has it.
std::size_t find_bit(const void* bits, std::size_t first, std::size_t end, bool set);

// Values that are not stored one after the other (import_encoded.cpp).

/// Returns true for columns of indices and of runs.
inline bool is_encoded(const ArrowSchema& s) { return s.dictionary || ipc_format_of(s) == "+r"; }
/// Returns the schema of the values behind indices and runs.
const ArrowSchema& plain_schema(const ArrowSchema& s);
status append_encoded(column& to, const values& from, const place& where);
status append_views(column& to, const values& from, const place& where);
status append_list_views(column& to, const values& from, const place& where);

}  // namespace sluice::lib::arrow
