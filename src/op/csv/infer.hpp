// SPDX-License-Identifier: Apache-2.0
// Infers the columns of a CSV file from its first rows when a plan is built, if the user has declared none.
#pragma once

#include <cstddef>
#include <string>

#include "format/csv/csv_parser.hpp"
#include "sluice/base/error_policy.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib {

/// The number of rows that are examined; a file may have fewer.
inline constexpr std::size_t kCsvRowsLookedAt = 100;

/// Infers the schema from the file under the path, which may be compressed. With error_policy::skip, `bad_rows` are
/// skipped.
/// Errors: the file's, and why reading stops if no row precedes that place; resource_exhausted: the first row is too
///         long; invalid_argument: there are no rows; with the line: a row has another number of fields, or a quote
///         that is not closed; no type of numbers represents all numbers of a column.
result<csv_schema> infer_csv_schema(const std::string& path, const csv_dialect& dialect, compression packed,
                                    error_policy bad_rows, inflate_limits limits = {});

}  // namespace sluice::lib
