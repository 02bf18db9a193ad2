// SPDX-License-Identifier: Apache-2.0
// Rows of columns as the elements of programs: a part of the element is read from its own column, and no element is
// built.
//
//   column_view rows{&batch.rows_column(), first, n};
//   if (program.reads_columns()) program.numbers(rows, to, exist, why);
//
// Thread: any number of readers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "expr/evaluation.hpp"
#include "sluice/element/column.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

/// Consecutive rows of a column of elements. The column outlives them, and does not change.
struct column_view {
  const column* all = nullptr;
  std::size_t first = 0;  ///< its number in the arrays, which count rows that were removed at the front
  std::uint32_t n = 0;

  std::uint32_t size() const noexcept { return n; }
  column_view after(std::uint32_t k) const noexcept { return {all, first + k, n - k}; }
  column_view front(std::uint32_t k) const noexcept { return {all, first, k}; }
};

namespace expressions {

/// Returns true for numbers, texts, and optionals of these: they are read from their column without an object.
bool is_column_part(const element_type& t);
/// Returns true if rows of `element` have a column for their part of type `t` at `offset`, and it is read without an object.
/// False for items of arrays, and for parts of values that columns store as objects.
bool has_column_part(const element_type& element, const element_type& t, std::size_t offset);
/// Returns true if copy_rows() allocates memory for no part of an element, except for its strings.
bool is_cheap_to_build(const element_type& t);
/// Returns the column of a part of the elements. REQUIRES: `rows` has elements with a part of this type at `offset`.
const column& part_of_rows(const column& rows, const element_type& t, std::size_t offset);
/// Loads registers of numbers or texts from the rows `first` + s.element(i).
void load_rows(const column& part, std::size_t first, selection s, void* out);
/// Does the same for optionals of numbers or texts, and stores which exist. The register of a missing value is zero.
void load_optional_rows(const column& part, std::size_t first, selection s, void* values, bool* exist);
/// Constructs copies of the values of these rows at `to`. Errors: exceptions; no value is constructed then.
void copy_rows(const column& part, std::size_t first, selection s, char* to, std::size_t stride);
/// Returns the consecutive numbers of a part that exists in all rows from `first` on; null if there are no such numbers.
const char* numbers_in_place(const column& part, std::size_t first);

}  // namespace expressions
}  // namespace sluice::lib
