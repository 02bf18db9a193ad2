// SPDX-License-Identifier: Apache-2.0
// Builds a structure from a row of a query, and infers the structure's type.
#pragma once

#include <string>

#include "sluice/format/csv_schema.hpp"
#include "sluice/io/sql_rows.hpp"

namespace sluice::lib {

/// Errors: invalid_argument, with both lists of columns.
status check_sql_columns(const csv_schema& schema, const sql_rows& rows);
/// Builds the present row at uninitialised `to`. Errors: throws invalid_argument, with the column; nothing is built
/// then.
void make_sql_row(const csv_schema& schema, const sql_rows& rows, void* to);
/// Infers the columns from the first rows of a query. If the query has no order and no limit, only the types of values
/// are read, because values may be large. If it has an order, its input is read once, and only the first rows and those
/// that an OFFSET skips are buffered and sorted.
/// Errors: those that open_sql throws; invalid_argument: a column has numbers and texts.
result<csv_schema> infer_sql_schema(const std::string& path, const std::string& query);

}  // namespace sluice::lib
