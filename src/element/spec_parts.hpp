// SPDX-License-Identifier: Apache-2.0
// Specs of elements that have others in them: of batches and lists of what has a spec, of the rows of batches, and of tensors
// whose members are tensors.
#pragma once

#include <cstdint>
#include <string>

#include "sluice/element/spec.hpp"

namespace sluice::lib {

/// Of batches of `length` rows, or spec::kUnknown.
spec spec_of_batch(spec row, std::int64_t length);
/// Of lists of so many.
spec spec_of_list(spec item, std::int64_t length);
/// Of a row. REQUIRES: batches have the spec.
spec spec_of_row(spec batch);

/// Of a sparse_tensor with so many dimensions.
spec spec_of_sparse(std::string dtype, std::size_t rank);
/// Of `rows` tensors or ragged_tensors of this spec as one ragged_tensor; of any number, if `rows` is spec::kUnknown.
spec spec_of_ragged(const spec& row, std::int64_t rows);

}  // namespace sluice::lib
