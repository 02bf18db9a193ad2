// SPDX-License-Identifier: Apache-2.0
// Infers the columns of CSV files from their first rows when a plan is built, if the user has declared none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "engine/files/file_pieces.hpp"
#include "format/csv/csv_parser.hpp"
#include "sluice/base/field_types.hpp"

namespace sluice::lib {

/// The number of rows of each file that are examined by default, as far as its first MiB has them.
inline constexpr std::int64_t kCsvRowsLookedAt = 100;

/// Infers the schema from the first `rows` rows of each file (-1: all). Rows that are broken are left out: the run
/// reports or drops them. Columns of several files are found by the names in their headers: a column that a file lacks
/// is optional, and of int64 and double the column is double.
/// Errors: the file's, and why reading stops if no row precedes that place; resource_exhausted: the first row is too
///         long; invalid_argument: there are no rows; the error of the first row if all are broken, with the line; no
///         type of numbers represents all numbers of a column; several files: they have unlike values in a column, or
///         without a header unlike numbers of columns.
result<csv_schema> infer_csv_schema(std::deque<file_pieces> files, const csv_dialect& dialect,
                                    std::int64_t rows = kCsvRowsLookedAt);

/// Returns the number of fields in the first row. Errors: as above, and those of that row.
result<std::size_t> csv_fields_in_first_row(file_pieces file, const csv_dialect& dialect);

/// Returns the rows that were examined, in words.
std::string csv_rows_looked_at(std::int64_t rows);

}  // namespace sluice::lib
