// SPDX-License-Identifier: Apache-2.0
// batch: n consecutive elements become one element, stored by column.
//
//   samples | batch(64)                    // dataset<batched<sample>>: b[&sample::label] is a span of 64 labels
//   samples | batch(64, {.drop_remainder = true})
//   samples | batch(64, {.timeout = std::chrono::milliseconds(5)})      // what has come by then, for a server; in plan text timeout=5ms
//
// With `timeout` a batch is delivered when it is full, or when that time has passed since its first row was taken and the input has none
// ready. The input then works ahead by as many rows as a batch has. Rows are the same in every run, and where batches end depends
// on timing.
// Shape:  batched<T>; rows are numbers, texts, arrays, and structures and pairs of those.
//         Rows are copied in; directly behind parse_example, or a map whose function has append_to (op/map.hpp), they are
//         written where they stay (not with ignore_errors() between: `on_error(error_policy::skip, map(f)) | batch(n)`).
// Order:  rows in the input's order.
// Ends:   with the input. The last batch may have fewer rows; with drop_remainder it is not delivered then.
// Errors: invalid_argument: a tensor of another dtype or shape than the batch's first row has; under error_policy::skip that row
//         is dropped and counted, and the batch goes on without it. An error of the input ends the stream at once, without the
//         rows that are collected already; a run that resumes from the last position reads these rows again.
// State:  none of its own: the input's position at the first row of the next batch. With timeout also how many elements came for
//         each batch since the mark, which a resume makes again as they were: no row is lost, none comes twice, and behind the
//         checkpoint timing decides anew.
#pragma once

#include "sluice/base/wait_time.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info batch_op;

struct batch_options {
  bool drop_remainder = false;  ///< a last batch of fewer rows is not delivered
  wait_time timeout =
      {};  ///< since a batch's first row; then it is delivered as it is. Not given: a batch waits until it is full
};
struct batch_arguments {
  count size = {};  ///< rows
  batch_options options = {};
};

class batch_verb : public stage_base_tag {
 public:
  explicit batch_verb(batch_arguments a) : arguments_(a) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (stackable<T>) {
      return dataset<batched<T>>(batch_op, arguments::of(arguments_), in.plan());
    } else if constexpr (detail::has_unstackable_member<T>) {
      static_assert(detail::can_be_stacked<detail::unstackable_member<T>()>,
                    "batch: this member cannot be stacked (numbers, texts, arrays and structs of them can)");
      return dataset<refused>();
    } else {
      static_assert(detail::element_is<T>::template taken_by<batch_verb>,
                    "batch: rows of this element cannot be stacked (numbers, texts, arrays and structs of them can)");
      return dataset<refused>();
    }
  }

 private:
  batch_arguments arguments_;
};

batch_verb batch(count size, batch_options o = {});

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::batch;
using lib::batch_options;

}  // namespace sluice
