// SPDX-License-Identifier: Apache-2.0
// Builds sparse and ragged tensors from several features of a tf.Example.
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/format/example_schema.hpp"

namespace sluice::lib::detail {

/// `indices`: one list for each of the slot's parts, in the order of the dimensions. Values are sorted by their
/// indices. Errors: throws invalid_argument, with the feature: the numbers of indices and values differ, or an index is
/// outside the shape.
sparse_tensor sparse_of(const feature_slot& slot, const feature_values& values,
                        const std::vector<std::vector<std::int64_t>>& indices);

/// `numbers`: one list for each of the slot's parts, the outermost dimension first. Errors: throws invalid_argument,
/// with the feature: the rows do not partition the level below.
ragged_tensor ragged_of(const feature_slot& slot, const feature_values& values,
                        std::vector<std::vector<std::int64_t>> numbers);

}  // namespace sluice::lib::detail
