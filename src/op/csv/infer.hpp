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

/// Opens the file under the path, which may be compressed. `bad_rows` under error_policy::skip are passed over.
/// Errors: of the file, and why it cannot be read on where no row stands before that; resource_exhausted: its first row is
/// too long; invalid_argument: it has no rows; with the line: a row has another number of fields, or a quote that
/// is not closed; a column has whole numbers that no type of numbers has with all the others.
result<csv_schema> infer_csv_schema(const std::string& path, const csv_dialect& dialect, compression packed,
                                    error_policy bad_rows, inflate_limits limits = {});

}  // namespace sluice::lib
