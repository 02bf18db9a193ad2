// SPDX-License-Identifier: Apache-2.0
// padded_batch: n consecutive elements become one batch, in which lists and tensors are as long as the longest of the batch.
//
//   sentences | padded_batch(32)                                              // b.stacked(&sentence::tokens) is int64[32,17]
//   sentences | padded_batch(32, {.shapes = {{"tokens", {128}}}, .values = {{"tokens", -1}}})
//   from_elements(std::vector<std::vector<std::int64_t>>{{1}, {2, 3}}) | padded_batch(2)     // [[1, 0], [2, 3]]
//
// Shape:  batched<T>, as of batch: lists of lists of numbers or texts become rectangular, tensors have one shape, all other
//         members are what they are. Members are named by their path, "context.ids"; the element itself, if it is a list or a
//         tensor, is "it".
// Padded: at the end of each dimension, with 0, false or "", or with what `values` says.
// Order:  rows in the input's order.
// Ends:   with the input. The last batch may have fewer rows; with drop_remainder it is not delivered then.
// Errors: invalid_argument, when the plan is made: there is no such member, or a value that is none of its type. In a run, with
//         the element's number and the member: it is longer than `shapes` says, or tensors of a batch have other dtypes or ranks.
//         Under error_policy::skip that row is dropped and counted, and the batch goes on without it; the batch's first row
//         stays. An error that is not dropped ends the stream at once, without the rows that are collected already.
//         resource_exhausted: a batch exceeds the memory budget, which counts its padding.
// Owns:   the elements of the batch in the making; at its end for a moment those, and the batch.
// State:  none of its own: the input's position at the first row of the next batch.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sluice/element/batched.hpp"
#include "sluice/engine/pad_value.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/member_map.hpp"

namespace sluice::lib {

extern const op_info padded_batch_op;

struct padded_batch_options {
  /// lengths of each dimension, by member; -1: of the longest in the batch. In plan text {tokens=[128]}, of the element itself {it=[128]}
  member_map<std::vector<std::int64_t>> shapes = {};
  /// what fills the rest, by member: in plan text {tokens=-1}
  member_map<pad_value> values = {};
  bool drop_remainder = false;  ///< a last batch of fewer rows is not delivered
};
struct padded_batch_arguments {
  count size = {};  ///< rows
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
  lib::arguments arguments_;  // of padded_batch_arguments
};

padded_batch_verb padded_batch(count size, padded_batch_options o = {});

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::padded_batch;
using lib::padded_batch_options;

}  // namespace sluice
