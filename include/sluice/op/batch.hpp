// SPDX-License-Identifier: Apache-2.0
// batch: n consecutive elements become one element, stored by column.
//
//   samples | batch(64)                    // dataset<batched<sample>>: b[&sample::label] is a span of 64 labels
//   samples | batch(64, {.drop_remainder = true})
//   samples | batch(64, {.timeout = std::chrono::milliseconds(5)})      // what has come by then, for a server; in plan text timeout=5ms
//
// With `timeout` a batch is delivered when it is full, or when that time has passed since its first row was taken and
// the input has no element ready. The input then makes up to one batch ahead. The rows are the same in every run, but
// the places where batches end depend on timing.
// Shape:  batched<T>; rows are numbers, texts, arrays, and structures and pairs of those.
//         Rows are copied in. If batch directly follows parse_example, or a map whose function has append_to
//         (op/map.hpp), these write their rows directly into the batch. This does not work with ignore_errors()
//         between; write `on_error(error_policy::skip, map(f)) | batch(n)` instead.
// Order:  rows in the input's order.
// Ends:   with the input. The last batch may have fewer rows; with drop_remainder such a batch is not delivered.
// Errors: invalid_argument: a tensor has another dtype or shape than the one in the batch's first row. Under
//         error_policy::skip its row is dropped and counted, and the batch continues without it. An error of the input
//         ends the stream at once, without the rows that are already collected; a run that resumes from the last
//         position reads these rows again.
// State:  none of its own: the input's position at the first row of the next batch. With timeout the position also
//         contains the number of elements in each batch since the mark. A resume builds these batches again with the
//         same sizes, so no row is lost or repeated; after the checkpoint, timing decides again.
#pragma once

#include "sluice/base/wait_time.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info batch_op;

struct batch_options {
  bool drop_remainder = false;  ///< true: a last batch with fewer rows is not delivered
  wait_time timeout =
      {};  ///< the longest time since a batch's first row; then the batch is delivered as it is. Not given: a batch
           ///< waits until it is full
};
struct batch_arguments {
  count size = {};  ///< number of rows
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
SLUICE_OPTIONS_IN_BRACES(batch_verb, batch, count, batch_options, "batch(4, {.drop_remainder = true})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::batch;
using lib::batch_options;

}  // namespace sluice
