// SPDX-License-Identifier: Apache-2.0
// padded_batch: n consecutive elements become one batch, in which lists and tensors are padded to the longest of the
// batch.
//
//   sentences | padded_batch(32)                                              // b.stacked(&sentence::tokens) is int64[32,17]
//   sentences | padded_batch(32, {.shapes = {{"tokens", {128}}}, .values = {{"tokens", -1}}})
//   from_elements(std::vector<std::vector<std::int64_t>>{{1}, {2, 3}}) | padded_batch(2)     // [[1, 0], [2, 3]]
//
// Shape:  batched<T>, as for batch: lists of lists of numbers or texts become rectangular, and the tensors get one
//         shape; all other members stay as they are. Members are named by their path, "context.ids". The element
//         itself, if it is a list or a tensor, is named "it".
// Padded: at the end of each dimension, with 0, false or "", or with the value in `values`.
// Order:  rows in the input's order.
// Ends:   with the input. The last batch may have fewer rows; with drop_remainder such a batch is not delivered.
// Errors: invalid_argument, when the plan is built: the elements are sparse or ragged tensors, a named member does not
//         exist, or a value does not have its member's type. invalid_argument in a run, with the element's number and
//         the member: it is longer than `shapes` permits, or tensors of a batch have different dtypes or ranks. Under
//         error_policy::skip that row is dropped and counted, and the batch continues without it; the batch's first row
//         stays. An error that is not dropped ends the stream at once, without the rows that are already collected.
//         resource_exhausted: a batch exceeds the memory budget, which includes its padding.
// Owns:   the elements of the batch that is being built; briefly, when it is finished, also the batch.
// State:  none of its own: the input's position at the first row of the next batch.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sluice/element/batched.hpp"
#include "sluice/engine/pad_value.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/member_map.hpp"

namespace sluice::lib {

extern const op_info padded_batch_op;

struct padded_batch_options {
  /// length of each dimension, by member; -1: the longest in the batch. In plan text {tokens=[128]}, for the element
  /// itself {it=[128]}
  member_map<std::vector<std::int64_t>> shapes = {};
  /// the padding values, by member: in plan text {tokens=-1}
  member_map<pad_value> values = {};
  bool drop_remainder = false;  ///< true: a last batch with fewer rows is not delivered
};
struct padded_batch_arguments {
  count size = {};  ///< number of rows
  padded_batch_options options = {};
};

class padded_batch_verb : public stage_base_tag {
 public:
  explicit padded_batch_verb(lib::arguments a) : arguments_(std::move(a)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (stackable<T>) {
      return dataset<batched<T>>(padded_batch_op, arguments_, in.plan());
    } else {
      static_assert(
          detail::element_is<T>::template taken_by<padded_batch_verb>,
          "padded_batch: rows of this element cannot be stacked (numbers, texts, lists and structs of them can)");
      return dataset<refused>();
    }
  }

 private:
  lib::arguments arguments_;  // for padded_batch_arguments
};

padded_batch_verb padded_batch(count size, padded_batch_options o = {});
SLUICE_OPTIONS_IN_BRACES(padded_batch_verb, padded_batch, count, padded_batch_options,
                         "padded_batch(4, {.drop_remainder = true})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::padded_batch;
using lib::padded_batch_options;

}  // namespace sluice
