// SPDX-License-Identifier: Apache-2.0
// Specs of elements that have others in them: of batches and lists of what has a spec, and of the rows of batches.
#pragma once

#include <cstdint>

#include "sluice/element/spec.hpp"

namespace sluice::lib {

/// Of batches of `length` rows, or spec::kUnknown.
spec spec_of_batch(spec row, std::int64_t length);
/// Of lists of so many.
spec spec_of_list(spec item, std::int64_t length);
/// Of a row. REQUIRES: batches have the spec.
spec spec_of_row(spec batch);

}  // namespace sluice::lib
