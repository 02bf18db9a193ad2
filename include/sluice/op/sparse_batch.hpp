// SPDX-License-Identifier: Apache-2.0
// sparse_batch: n consecutive elements, of any lengths, become one sparse tensor with one dimension more.
//
//   from_elements(std::vector<std::vector<std::int64_t>>{{1}, {2, 3}}) | sparse_batch(2, {4})
//                                                    // indices [0,0] [1,0] [1,1], values 1 2 3, dense_shape [2,4]
//   sentences | map([](const sentence& s) { return s.tokens; }) | sparse_batch(32, {-1})     // as long as the longest row
//
// Rows are lists of numbers or texts, tensors, or sparse tensors. Every item of a list or tensor is a value, even 0.
// `row_shape` has a length for each dimension of the rows; -1 is the greatest length in the batch.
// Shape:  sparse_tensor: values in the order of the rows, and within a row in the row's order.
// Order:  rows in the input's order.
// Ends:   with the input. The last batch may have fewer rows; with drop_remainder such a batch is not delivered.
// Errors: invalid_argument, when the plan is built: elements of other types, or a length below -1. invalid_argument in
//         a run, with the element's number: the element does not fit into row_shape, has another rank, or has another
//         dtype than the batch. Under error_policy::skip it is dropped and counted, and the batch continues without it.
//         resource_exhausted: a batch exceeds the memory budget. An error ends the stream at once, without the rows
//         that are already collected.
// Owns:   the elements of the batch that is being built; briefly, when it is finished, also the batch.
// State:  none of its own: the input's position at the first row of the next batch.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/element/sparse_tensor.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info sparse_batch_op;

struct sparse_batch_options {
  bool drop_remainder = false;  ///< true: a last batch with fewer rows is not delivered
};
struct sparse_batch_arguments {
  count size = {};                           ///< number of rows
  std::vector<std::int64_t> row_shape = {};  ///< length of each dimension of a row; -1: the greatest in the batch
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
  lib::arguments arguments_;  // for sparse_batch_arguments
};

sparse_batch_verb sparse_batch(count size, std::vector<std::int64_t> row_shape, sparse_batch_options o = {});
SLUICE_OPTIONS_IN_BRACES_AFTER(sparse_batch_verb, sparse_batch, sparse_batch_options,
                               "sparse_batch(4, {10}, {.drop_remainder = true})", count, std::vector<std::int64_t>)

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::sparse_batch;

}  // namespace sluice
