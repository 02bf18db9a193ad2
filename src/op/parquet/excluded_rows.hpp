// SPDX-License-Identifier: Apache-2.0
// The rows of a Parquet file that a condition excludes by the statistics in the footer.
// Thread: any.
#pragma once

#include <span>
#include <vector>

#include "plan/member_comparison.hpp"
#include "sluice/element/type.hpp"
#include "sluice/io/parquet_files.hpp"
#include "sluice/plan/facts.hpp"

namespace sluice::lib {

/// Returns true if no value within the bounds satisfies the comparison. `rows`: of the group. Cautious: false if the bounds
/// do not decide.
bool excludes_all(const column_bounds& b, const member_comparison& c, std::uint64_t rows);

/// Returns the row groups in which some comparison holds for no row, as runs of rows: ascending, not adjacent. `row`: the
/// type of the rows, as the file has them.
std::vector<element_run> excluded_rows(const parquet_file& file, const element_type& row,
                                       std::span<const member_comparison> comparisons);

}  // namespace sluice::lib
