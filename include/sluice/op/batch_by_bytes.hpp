// SPDX-License-Identifier: Apache-2.0
// batch_by_bytes: batches of as many consecutive elements as fit into a given number of bytes.
//
//   samples | batch_by_bytes(4 << 20)                                     // dataset<batched<sample>>
//   samples | batch_by_bytes(4 << 20, {.rows_max = 512, .oversized = oversized::alone})
//
// In plan text `batch_by_bytes(4MiB, rows_max=512, oversized=alone)`. Only the bytes of the contents count: a number
// counts its size; a text, list or tensor counts the bytes of its items; a structure counts the sum of its members.
// Other memory that the elements use does not count.
// Shape:  batched<T>, as for batch.
// Order:  rows in the input's order. A batch ends when it has rows_max rows, or before the element that would make it
//         larger than bytes_max. That element is therefore read before the batch is delivered.
// Ends:   with the input; with drop_remainder the last batch, which might have become larger, is not delivered.
// Errors: invalid_argument, with the element's number: the element alone has more than bytes_max bytes, or does not
//         stack with the batch's first row. Under error_policy::skip it is dropped and counted. With oversized=alone an
//         element that is too large becomes a batch of its own. resource_exhausted: a batch exceeds the memory budget.
//         An error ends the stream at once, without the rows that are already collected.
// Owns:   the elements of the batch that is being built; briefly, when it is finished, also the batch.
// State:  none of its own: the input's position at the first row of the next batch.
#pragma once

#include <cstdint>
#include <optional>

#include "sluice/element/batched.hpp"
#include "sluice/engine/batch_limits.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info batch_by_bytes_op;

struct batch_by_bytes_options {
  std::optional<count> rows_max = {};  ///< most rows in a batch; not given: no limit
  bool drop_remainder = false;         ///< true: the last batch is not delivered
  lib::oversized oversized =
      lib::oversized::refuse;  ///< treatment of an element that alone exceeds the limit: refuse (an error) or alone
};
struct batch_by_bytes_arguments {
  byte_size bytes_max = {};  ///< most bytes of contents in a batch, at least 1
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
SLUICE_OPTIONS_IN_BRACES(batch_by_bytes_verb, batch_by_bytes, byte_size, batch_by_bytes_options,
                         "batch_by_bytes(1 << 20, {.rows_max = 64})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::batch_by_bytes;

}  // namespace sluice
