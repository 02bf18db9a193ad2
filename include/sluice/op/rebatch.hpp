// SPDX-License-Identifier: Apache-2.0
// rebatch: changes the sizes of batches.
//
//   range(7) | batch(4) | rebatch(3)             // 0 1 2, 3 4 5, 6
//   range(8) | batch(4) | rebatch({2, 1, 1})     // 0 1, 2, 3, 4 5, 6, 7
//
// Several sizes alternate. Columns are joined and cut; no row becomes a C++ value, unlike with unbatch and batch.
// Shape:  batched<T>, as the input's.
// Order:  rows as in the input's batches. Batches without rows add nothing.
// Ends:   with the input. The last batch may have fewer rows; with drop_remainder such a batch is not delivered.
// Errors: invalid_argument: the rows of two batches do not stack, because their tensors have different shapes; under
//         error_policy::skip the later batch is dropped and counted. An error of the input ends the stream at once,
//         without the rows that are already collected. resource_exhausted: a batch exceeds the memory budget.
// Owns:   the batch that is being built, and the rest of the input's last batch.
// State:  the number of batches delivered, and the number of rows of the current input batch that are in them; that
//         batch is made again after a resume.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "sluice/element/batched.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info rebatch_op;

/// Numbers of rows, used alternately: in plan text 3, or [2, 1, 1].
struct batch_sizes {
  std::vector<count> values = {};
  batch_sizes();
  batch_sizes(std::int64_t one);  // NOLINT: a number is written as one
  batch_sizes(std::initializer_list<std::int64_t> all);
  batch_sizes(const std::vector<std::int64_t>& all);  // NOLINT
  batch_sizes(const batch_sizes& other);
  batch_sizes(batch_sizes&& other) noexcept;
  batch_sizes& operator=(const batch_sizes& other);
  batch_sizes& operator=(batch_sizes&& other) noexcept;
  ~batch_sizes();
};

struct rebatch_options {
  bool drop_remainder = false;  ///< true: a last batch with fewer rows is not delivered
};
struct rebatch_arguments {
  batch_sizes sizes = {};  ///< number of rows in each batch; several sizes alternate
  rebatch_options options = {};
};

class rebatch_verb : public stage_base_tag {
 public:
  explicit rebatch_verb(lib::arguments a) : arguments_(std::move(a)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (detail::is_batched<T>) {
      return dataset<T>(rebatch_op, arguments_, in.plan());
    } else {
      static_assert(detail::element_is<T>::template taken_by<rebatch_verb>, "rebatch: the element is not a batch");
      return dataset<refused>();
    }
  }

 private:
  lib::arguments arguments_;  // for rebatch_arguments
};

rebatch_verb rebatch(batch_sizes sizes, rebatch_options o = {});
SLUICE_OPTIONS_IN_BRACES(rebatch_verb, rebatch, batch_sizes, rebatch_options, "rebatch(4, {.drop_remainder = true})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::rebatch;
using lib::rebatch_options;

}  // namespace sluice
