// SPDX-License-Identifier: Apache-2.0
// batch_by_bytes: batches of as many consecutive elements as have no more than so many bytes together.
//
//   samples | batch_by_bytes(4 << 20)                                     // dataset<batched<sample>>
//   samples | batch_by_bytes(4 << 20, {.rows_max = 512, .oversized = oversized::alone})
//
// In plan text `batch_by_bytes(4MiB, rows_max=512, oversized=alone)`. The bytes are those of the contents: of numbers their size, of texts,
// lists and tensors what they have, of structures the sum of their members; not what memory takes beside them.
// Shape:  batched<T>, as of batch.
// Order:  rows in the input's order. A batch ends in front of the element with which it would have more than bytes_max, so that element
//         is read before the batch is delivered; or when it has rows_max rows.
// Ends:   with the input; with drop_remainder without the last batch, which might have become larger.
// Errors: invalid_argument, with the element's number: it alone has more than bytes_max, or does not stack on the batch's first
//         row. Under error_policy::skip it is dropped and counted; with oversized=alone the first is a batch of its own.
//         resource_exhausted: a batch exceeds the memory budget. An error ends the stream at once, without the rows that are
//         collected already.
// Owns:   the elements of the batch in the making; at its end for a moment those, and the batch.
// State:  none of its own: the input's position at the first row of the next batch.
#pragma once

#include <cstdint>
#include <optional>

#include "sluice/element/batched.hpp"
#include "sluice/engine/batch_limits.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info batch_by_bytes_op;

struct batch_by_bytes_options {
  std::optional<count> rows_max = {};  ///< rows of a batch; not given: any number
  bool drop_remainder = false;         ///< the last batch is not delivered
  lib::oversized oversized =
      lib::oversized::refuse;  ///< what an element is that alone has more: refuse (an error) or alone
};
struct batch_by_bytes_arguments {
  byte_size bytes_max = {};  ///< of the contents of a batch's rows, at least 1
  batch_by_bytes_options options = {};
};

class batch_by_bytes_verb : public stage_base_tag {
 public:
  explicit batch_by_bytes_verb(batch_by_bytes_arguments a) : arguments_(a) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (stackable<T>) {
      return dataset<batched<T>>(batch_by_bytes_op, arguments::of(arguments_), in.plan());
    } else {
      static_assert(
          detail::element_is<T>::template taken_by<batch_by_bytes_verb>,
          "batch_by_bytes: rows of this element cannot be stacked (numbers, texts, arrays and structs of them can)");
      return dataset<refused>();
    }
  }

 private:
  batch_by_bytes_arguments arguments_;
};

batch_by_bytes_verb batch_by_bytes(byte_size bytes_max, batch_by_bytes_options o = {});

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::batch_by_bytes;

}  // namespace sluice
