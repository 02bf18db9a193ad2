// SPDX-License-Identifier: Apache-2.0
// sql: the rows of a query over an SQLite file, as structures.
//
//   struct passenger { std::string name; std::optional<double> age; };
//   sql<passenger>("a.db", "SELECT name, age FROM passengers ORDER BY id")
//
// In plan text the columns are written as a text (format/csv_schema.hpp), sql("a.db", "SELECT name, age FROM passengers ORDER BY id",
// "name: bytes, age: double?"), and the structure is made at run time; without one they are inferred from the query's first 100
// rows, when the plan is made. As a reader it is written flat_map(sql(query="SELECT n FROM t", schema="n: int64")).
//
// Shape:  a structure, whose members are the query's columns in their order. INTEGER is any integer, float or double, and, 0 or 1, a
//         bool; REAL is a float or double; TEXT and BLOB are texts; NULL is an optional without a value, or the column's default.
//         Inferred are int64, double and bytes, as optionals where one of the 100 is NULL.
// Order:  the query's. A resume needs the same again: end the query with ORDER BY.
// Errors: failed_precondition: a program without register_sqlite() (sluice/io/sqlite_rows.hpp; the program sluice has it). not_found,
//         data_loss, unavailable: the file. invalid_argument: the query, with SQLite's words; one that writes; columns that are not as
//         many as members. With row and column: NULL where there is neither optional nor default, a value that the member cannot be;
//         under error_policy::skip such a row is dropped.
// Thread: the database is asked on threads for blocking calls, for as many rows and bytes as the consumer demands.
// Owns:   a connection, which may only read, of at most 1 MiB.
// State:  the number of the next row. A resume makes the query again, and passes over the rows before; it is refused where the file
//         or the log beside it (WAL) has changed.
#pragma once

#include <string>
#include <string_view>

#include "sluice/engine/column_schema.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info sql_op;

struct sql_arguments {
  file_path path = {};            ///< of an SQLite file
  required_text query = {};       ///< one SELECT
  column_schema_arg schema = {};  ///< the columns and their types; "": those of the query
};

/// `schema`: defaults of members; the others are what their types say.
template <class T> dataset<T> sql(std::string_view path, std::string_view query, std::string_view schema = {}) {
  return dataset<T>(sql_op, arguments::of(sql_arguments{std::string(path), std::string(query),
                                                        detail::columns_of<T>(schema, "sql")}));
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::sql;

}  // namespace sluice
