// SPDX-License-Identifier: Apache-2.0
// A row of a query as a structure, and the structure that rows are.
#pragma once

#include <string>

#include "sluice/format/csv_schema.hpp"
#include "sluice/io/sql_rows.hpp"

namespace sluice::lib {

/// Errors: invalid_argument, with both lists of columns.
status check_sql_columns(const csv_schema& schema, const sql_rows& rows);
/// The present row, at uninitialised `to`. Errors: throws invalid_argument, with the column; nothing is made then.
void make_sql_row(const csv_schema& schema, const sql_rows& rows, void* to);
/// Infers the columns from the first rows of a query. If the query has no order and no limit, only the types of values
/// are read: values may be large. If it has an order, its input is read once, and only the first rows, and those that an
/// OFFSET skips, are kept and sorted.
/// Errors: throws as open_sql; invalid_argument: a column has numbers and texts.
result<csv_schema> infer_sql_schema(const std::string& path, const std::string& query);

}  // namespace sluice::lib
