// SPDX-License-Identifier: Apache-2.0
// Batches in expressions. A column is a list, or one tensor if its rows are tensors. A row is the element before
// batching.
#pragma once

#include <cstddef>
#include <optional>

#include "expr/evaluation.hpp"

namespace sluice::lib::expressions {

/// Returns the rows of a batch, or their k-th members, as a list or a tensor. Returns null if no list of such items
/// exists.
computed_ptr batch_column(computed_ptr batch, std::optional<std::size_t> k);
/// Errors of elements: `index`, an int64, is out of range.
computed_ptr batch_row(computed_ptr batch, computed_ptr index);
computed_ptr batch_length(computed_ptr batch);
/// Returns true if the batch has one column, which `it` then denotes.
inline bool is_column(const element_type& t) { return t.kind == kind::batch && !t.element->stacks_by_member(); }

}  // namespace sluice::lib::expressions
