// SPDX-License-Identifier: Apache-2.0
// Batches in expressions: a column is a list, or, of tensors, one tensor; a row is what it was before it was batched.
#pragma once

#include <cstddef>
#include <optional>

#include "expr/evaluation.hpp"

namespace sluice::lib::expressions {

/// The rows of a batch, or their k-th members, as a list or a tensor. Null: there are no lists of such.
computed_ptr batch_column(computed_ptr batch, std::optional<std::size_t> k);
/// Errors of elements: `index`, an int64, is beyond the rows.
computed_ptr batch_row(computed_ptr batch, computed_ptr index);
computed_ptr batch_length(computed_ptr batch);
/// Has it one column, so that `it` is that?
inline bool is_column(const element_type& t) { return t.kind == kind::batch && !t.element->stacks_by_member(); }

}  // namespace sluice::lib::expressions
