// SPDX-License-Identifier: Apache-2.0
// The states of the aggregates of an expression: count, sum, mean, min, max and first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/expressions/aggregate_column.hpp"
#include "sluice/engine/detail/aggregates.hpp"

namespace sluice::lib {

/// Describes one member of the result.
struct described_aggregate {
  std::string function;
  row_value value;  ///< without `c`: count()
  const element_type* type = nullptr;
};

/// Returns the type of sums of these numbers.
const element_type& type_of_sum(expressions::number n);
/// Returns the states of these aggregates, which outlive them.
std::unique_ptr<aggregate_states> states_of(const std::vector<described_aggregate>& described);

}  // namespace sluice::lib
