// SPDX-License-Identifier: Apache-2.0
// sql: the rows of a query on an SQLite file, as structures.
//
//   struct passenger { std::string name; std::optional<double> age; };
//   sql<passenger>("a.db", "SELECT name, age FROM passengers ORDER BY id")
//
// In plan text the columns are written as a text (format/csv_schema.hpp), sql("a.db", "SELECT name, age FROM passengers ORDER
// BY id", "name: bytes, age: double?"), and the structure is built at run time. Without that text the columns are
// inferred from the query's first 100 rows when the plan is built. The form for a reader is flat_map(sql(query="SELECT
// n FROM t", schema="n: int64")).
//
// Shape:  a structure, whose members are the query's columns in their order. INTEGER fits any integer, float or double,
//         and a bool if it is 0 or 1; REAL fits a float or double; TEXT and BLOB fit texts; NULL is an optional without
//         a value, or the column's default. The inferred types are int64, double and bytes; a column with a NULL in one
//         of the 100 rows is an optional.
// Order:  the query's. A resume needs the same order again, so end the query with ORDER BY.
// Errors: failed_precondition: the program did not call register_sqlite() (sluice/io/sqlite_rows.hpp; the program
//         sluice does). not_found, data_loss, unavailable: an error of the file. invalid_argument: SQLite rejects the
//         query (the message has SQLite's words), the query writes, or the number of columns is not the number of
//         members. invalid_argument, with row and column: NULL without an optional or a default, or a value that the
//         member cannot represent; under error_policy::skip such a row is dropped.
// Thread: the database is queried on threads for blocking calls, for the number of rows and bytes that the consumer
//         requests.
// Owns:   a read-only connection of at most 1 MiB.
// State:  the number of the next row. A resume runs the query again and skips the rows before. It is rejected if the
//         file or its write-ahead log (WAL) has changed.
#pragma once

#include <string>
#include <string_view>

#include "sluice/engine/column_choice.hpp"
#include "sluice/engine/column_schema.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info sql_op;

struct sql_arguments {
  file_path path = {};            ///< the path of an SQLite file
  required_text query = {};       ///< one SELECT statement
  column_schema_arg schema = {};  ///< the columns and their types; "": those of the query
  column_choice built = {};
};

/// `schema` gives defaults of members; all other members are read as their types say.
template <class T> dataset<T> sql(std::string_view path, std::string_view query, std::string_view schema = {}) {
  return dataset<T>(sql_op, arguments::of(sql_arguments{std::string(path), std::string(query),
                                                        detail::columns_of<T>(schema, "sql")}));
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::sql;

}  // namespace sluice
