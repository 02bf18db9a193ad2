// SPDX-License-Identifier: Apache-2.0
// The seam of databases: a query over a file, and its rows one after the other. The operator `sql` asks through it; a program that
// has linked a database says so once, by register_sqlite() (io/sqlite_rows.hpp).
//
// Errors: thrown, as `error`: not_found; data_loss: no database, or damaged; invalid_argument: the query, with the database's words;
//         unavailable: locked.
// Thread: open() any; the rows of a query on one thread at a time. All calls may block.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace sluice::lib {

struct sql_value {
  enum kind_type : std::uint8_t { null, whole, real, text, bytes } kind = null;
  std::int64_t number = 0;
  double value = 0;
  std::string_view chars{};  ///< of text and bytes, until next() is called
};

class sql_rows {
 public:
  virtual ~sql_rows() = default;
  virtual std::size_t columns() const = 0;
  virtual std::string column_name(std::size_t column) const = 0;
  /// Goes to the next row, at first to row 0. Returns false if there is none.
  virtual bool next() = 0;
  /// Of the present row.
  virtual sql_value value(std::size_t column) const = 0;
};

/// Opens the file for reading only, and begins the query. What it takes of memory is at most kSqlMemoryBytes, for as long as the rows
/// live.
using open_sql_function = std::unique_ptr<sql_rows> (*)(const std::string& path, const std::string& query);
inline constexpr std::size_t kSqlMemoryBytes = std::size_t{1} << 20;

/// Whom queries are asked of from now on. Thread: any.
void use_sql(open_sql_function open);
/// Errors: throws failed_precondition where there is no database in this program; and as above.
std::unique_ptr<sql_rows> open_sql(const std::string& path, const std::string& query);

}  // namespace sluice::lib
