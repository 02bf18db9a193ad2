// SPDX-License-Identifier: Apache-2.0
// Sparse and ragged tensors of several features of a tf.Example.
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/format/example_schema.hpp"

namespace sluice::lib::detail {

/// `indices`: of each of the slot's parts, in the order of the dimensions. Values come in the order of their indices. Errors:
/// throws invalid_argument, with the feature: another number of indices than values, an index outside of the shape.
sparse_tensor sparse_of(const feature_slot& slot, const feature_values& values,
                        const std::vector<std::vector<std::int64_t>>& indices);

/// `numbers`: of each of the slot's parts, the outermost dimension first. Errors: throws invalid_argument, with the feature:
/// rows that do not part what they part.
ragged_tensor ragged_of(const feature_slot& slot, const feature_values& values,
                        std::vector<std::vector<std::int64_t>> numbers);

}  // namespace sluice::lib::detail
