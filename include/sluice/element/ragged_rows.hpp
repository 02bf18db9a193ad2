// SPDX-License-Identifier: Apache-2.0
// The lists of a batch as one ragged tensor, whose values are the batch's own bytes.
//
//   batched<sentence> b;
//   ragged_tensor tokens = ragged_rows(b, &sentence::tokens);       // ragged int64[32,?]
//   ragged_tensor words = ragged_rows(batch_of_lists);              // the rows themselves are lists
//
// Lists of lists have a ragged dimension for each depth.
// Errors: throws invalid_argument for lists of elements without a dtype: structures, optionals.
// Cost:   values are shared (bools, and enums as numbers, too). The splits are copied, because they have 64 bits.
#pragma once

#include "sluice/element/batched.hpp"
#include "sluice/element/ragged_tensor.hpp"

namespace sluice::lib {

namespace detail {
/// Returns the rows [first, first + n) of a column of lists of type `row`; the column is null if it has no rows.
ragged_tensor ragged(const element_type& row, const column* c, std::size_t first, std::size_t n);
inline std::size_t first_row(const batch_storage& b) { return b.has_column() ? b.rows_column().gone_in_front() : 0; }
}  // namespace detail

template <class T> ragged_tensor ragged_rows(const batched<std::vector<T>>& b) {
  const batch_storage& s = b.storage();
  return detail::ragged(type_of<std::vector<T>>(), s.empty() ? nullptr : &s.rows_column(), detail::first_row(s),
                        static_cast<std::size_t>(s.rows()));
}
template <class T, class U> ragged_tensor ragged_rows(const batched<T>& b, std::vector<U> T::* m) {
  const batch_storage& s = b.storage();
  return detail::ragged(type_of<std::vector<U>>(),
                        s.empty() ? nullptr : &s.rows_column().child(detail::column_of<T>(m)), detail::first_row(s),
                        static_cast<std::size_t>(s.rows()));
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::ragged_rows;

}  // namespace sluice
