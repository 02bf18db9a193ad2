// SPDX-License-Identifier: Apache-2.0
// sparse_batch: n consecutive elements become one sparse tensor with a dimension more, whatever their lengths are.
//
//   from_elements(std::vector<std::vector<std::int64_t>>{{1}, {2, 3}}) | sparse_batch(2, {4})
//                                                    // indices [0,0] [1,0] [1,1], values 1 2 3, dense_shape [2,4]
//   sentences | map([](const sentence& s) { return s.tokens; }) | sparse_batch(32, {-1})     // as long as the longest row
//
// Rows are lists of numbers or texts, tensors, or sparse tensors: of lists and tensors every item is a value, 0 too. `row_shape` has a
// length for each of their dimensions; -1 is the greatest of the batch.
// Shape:  sparse_tensor: values in the order of the rows, and within a row as they were there.
// Order:  rows in the input's order.
// Ends:   with the input. The last batch may have fewer rows; with drop_remainder it is not delivered then.
// Errors: invalid_argument, when the plan is made: other elements, or a length below -1. In a run, with the element's number: it
//         does not fit into row_shape, has another rank or, in one batch, another dtype; under error_policy::skip it is dropped
//         and counted, and the batch goes on without it. resource_exhausted: a batch exceeds the memory budget. An error ends the
//         stream at once, without the rows that are collected already.
// Owns:   the elements of the batch in the making; at its end for a moment those, and the batch.
// State:  none of its own: the input's position at the first row of the next batch.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/element/sparse_tensor.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info sparse_batch_op;

struct sparse_batch_options {
  bool drop_remainder = false;  ///< a last batch of fewer rows is not delivered
};
struct sparse_batch_arguments {
  count size = {};                           ///< rows
  std::vector<std::int64_t> row_shape = {};  ///< lengths of a row's dimensions; -1: the greatest of the batch
  sparse_batch_options options = {};
};

namespace detail {
template <class T> inline constexpr bool is_sparse_row = is_tensor<T> || std::is_same_v<T, sparse_tensor>;
template <class T>
inline constexpr bool is_sparse_row<std::vector<T>> = std::is_arithmetic_v<T> || std::is_enum_v<T> || is_text<T>;
}  // namespace detail

class sparse_batch_verb : public stage_base_tag {
 public:
  explicit sparse_batch_verb(lib::arguments a) : arguments_(std::move(a)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (detail::is_sparse_row<T>) {
      return dataset<sparse_tensor>(sparse_batch_op, arguments_, in.plan());
    } else {
      static_assert(detail::element_is<T>::template taken_by<sparse_batch_verb>,
                    "sparse_batch: rows are lists of numbers or texts, tensors, or sparse tensors");
      return dataset<refused>();
    }
  }

 private:
  lib::arguments arguments_;  // of sparse_batch_arguments
};

sparse_batch_verb sparse_batch(count size, std::vector<std::int64_t> row_shape, sparse_batch_options o = {});

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::sparse_batch;

}  // namespace sluice
