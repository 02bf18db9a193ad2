// SPDX-License-Identifier: Apache-2.0
// batch: n elements become one, stored by column.
//
//   samples | batch(64)                    // dataset<batched<sample>>: b[&sample::label] is a span of 64 labels
//   samples | batch(64, {.drop_remainder = true})
//
// Shape:  batched<T>; rows are numbers, texts, arrays, and structures and pairs of those.
// Order:  rows in the input's order.
// Ends:   with the input; a last batch of fewer rows is given unless drop_remainder.
// Errors: an input error comes at once; the rows collected for the batch it hit are not lost to a resume.
// State:  none of its own: the position of the batch in the making's first row.
#pragma once

#include "sluice/element/batch.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info batch_op;

struct batch_options {
  bool drop_remainder = false;  ///< a last batch of fewer rows is dropped
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
      return dataset<batched<T>>(make_stage(batch_op, arguments::of(arguments_), in.plan()));
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
