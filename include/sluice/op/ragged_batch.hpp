// SPDX-License-Identifier: Apache-2.0
// ragged_batch: n consecutive elements become one, in which each list or tensor keeps its own length.
//
//   sentences | ragged_batch(32)                   // dataset<batched<sentence>>; ragged_rows(b, &sentence::tokens)
//   range(5) | map([](std::int64_t n) { return tensor::zeros(dtype::float32, {n}); }) | ragged_batch(2)   // ragged float32[2,?]
//
// Shape:  from tensors, whose first dimension may differ, and from ragged tensors, a ragged_tensor with one dimension
//         more. From all other elements batched<T>, as for batch: a column of lists is already ragged, and ragged_rows
//         (element/ragged_rows.hpp) returns it as a ragged_tensor that shares its bytes. Structures with tensors are
//         not supported: map the tensor to a list, or pad it.
// Order:  rows in the input's order.
// Ends:   with the input. The last batch may have fewer rows; with drop_remainder such a batch is not delivered.
// Errors: invalid_argument: a tensor is a scalar, or its dtype, rank or further dimensions differ from those of the
//         batch's first tensor. Under error_policy::skip such a row is dropped and counted, and the batch continues
//         without it. Otherwise the error ends the stream at once, without the rows that are already collected.
//         resource_exhausted: a batch exceeds the memory budget.
// Owns:   the elements of the batch that is being built; briefly, when it is finished, also the batch.
// State:  none of its own: the input's position at the first row of the next batch.
#pragma once

#include <type_traits>

#include "sluice/element/batched.hpp"
#include "sluice/element/ragged_rows.hpp"
#include "sluice/element/ragged_tensor.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info ragged_batch_op;

struct ragged_batch_options {
  bool drop_remainder = false;  ///< true: a last batch with fewer rows is not delivered
};
struct ragged_batch_arguments {
  count size = {};  ///< number of rows
  ragged_batch_options options = {};
};

class ragged_batch_verb : public stage_base_tag {
 public:
  explicit ragged_batch_verb(ragged_batch_arguments a) : arguments_(a) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (detail::is_tensor<T> || std::is_same_v<T, ragged_tensor>) {
      return dataset<ragged_tensor>(ragged_batch_op, arguments::of(arguments_), in.plan());
    } else if constexpr (stackable<T>) {
      return dataset<batched<T>>(ragged_batch_op, arguments::of(arguments_), in.plan());
    } else {
      static_assert(detail::element_is<T>::template taken_by<ragged_batch_verb>,
                    "ragged_batch: rows of this element cannot be stacked (numbers, texts, lists, tensors and structs "
                    "of lists can)");
      return dataset<refused>();
    }
  }

 private:
  ragged_batch_arguments arguments_;
};

ragged_batch_verb ragged_batch(count size, ragged_batch_options o = {});
SLUICE_OPTIONS_IN_BRACES(ragged_batch_verb, ragged_batch, count, ragged_batch_options,
                         "ragged_batch(4, {.drop_remainder = true})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::ragged_batch;

}  // namespace sluice
