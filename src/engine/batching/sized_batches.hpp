// SPDX-License-Identifier: Apache-2.0
// Batches of as many rows as fit into a budget: the loop of batch_by_bytes and batch_by_tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/batching/row_batches.hpp"
#include "engine/lowering/error_gate.hpp"
#include "sluice/engine/batch_limits.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

/// Measures the share of the budget that each element takes. Thread: the stage's.
class element_measure {
 public:
  element_measure() = default;
  element_measure(const element_measure&) = delete;
  virtual ~element_measure() = default;
  /// Appends the size of each element of `in` to `sizes`. An error belongs to element `done`.
  virtual applied measure(const block& in, std::vector<std::uint64_t>& sizes) = 0;
};

struct batch_budget {
  std::uint64_t size = 1;        ///< the limit of the rows of a batch together
  std::uint64_t rows = 0;        ///< 0: any number
  bool counts_longest = false;   ///< each row counts as much as the longest of its batch
  bool drop_remainder = false;   ///< drop the last batch, which may not be full
  bool takes_oversized = false;  ///< a row above the limit becomes a batch of its own; otherwise it is a bad element
  std::string unit{};            ///< for messages: "bytes"
};

/// Ends a batch before the row that would exceed the budget.
erased_stream sized_batches_loop(outlet out, erased_stream in, std::unique_ptr<element_measure> measure,
                                 std::unique_ptr<rows_maker> maker, batch_budget budget,
                                 std::shared_ptr<run_context> run, error_gate gate);

}  // namespace sluice::lib
