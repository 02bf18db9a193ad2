// SPDX-License-Identifier: Apache-2.0
// Specs of elements that contain others: of batches and lists, of the rows of batches, and of tensors whose members are
// tensors.
#pragma once

#include <cstdint>
#include <string>

#include "sluice/element/spec.hpp"

namespace sluice::lib {

/// Returns the spec of batches of `length` rows, or spec::kUnknown.
spec spec_of_batch(spec row, std::int64_t length);
/// Returns the spec of lists of `length` items.
spec spec_of_list(spec item, std::int64_t length);
/// Returns the number of rows of batches, or spec::kUnknown. REQUIRES: batches have the spec.
std::int64_t length_of_batch(const spec& batch);
/// Returns the spec of a batch's row. REQUIRES: `batch` is the spec of batches.
spec spec_of_row(spec batch);

/// Returns the spec of a sparse_tensor with `rank` dimensions.
spec spec_of_sparse(std::string dtype, std::size_t rank);
/// Returns the spec of one ragged_tensor that consists of `rows` tensors or ragged_tensors of this spec;
/// spec::kUnknown: any number of rows.
spec spec_of_ragged(const spec& row, std::int64_t rows);

}  // namespace sluice::lib
