// SPDX-License-Identifier: Apache-2.0
// The rows of a Parquet file that a condition excludes by the statistics in the footer; and, where the end of the file is in
// memory, by those of pages and by bloom filters.
// Thread: any.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "plan/member_comparison.hpp"
#include "sluice/element/type.hpp"
#include "sluice/io/parquet_files.hpp"
#include "sluice/plan/facts.hpp"

namespace sluice::lib {

/// Returns true if no value within the bounds satisfies the comparison. `rows`: of the group. Cautious: false if the bounds
/// do not decide.
bool excludes_all(const column_bounds& b, const member_comparison& c, std::uint64_t rows);

/// The last bytes of a file.
struct file_end {
  std::string_view bytes{};
  std::uint64_t offset = 0;
};

/// Returns where the indexes begin that may exclude more rows than the footer. nullopt: the file has none of these columns.
/// `row`: the type of the rows, as the file has them.
std::optional<std::uint64_t> indexes_begin(const parquet_file& file, const element_type& row,
                                           std::span<const member_comparison> comparisons);

/// Returns rows for which some comparison does not hold, as runs: ascending, not adjacent. They are whole row groups, or
/// many rows of one. `end`: has indexes; others are not used.
std::vector<element_run> excluded_rows(const parquet_file& file, const element_type& row,
                                       std::span<const member_comparison> comparisons, const file_end& end = {});

}  // namespace sluice::lib
