// SPDX-License-Identifier: Apache-2.0
// The seam of databases: runs a query over a file, and returns its rows one after the other. The operator `sql` uses
// it. A program that has linked a database registers it once, with register_sqlite() (io/sqlite_rows.hpp).
//
// Errors: thrown, as `error`: not_found; data_loss: not a database, or damaged; invalid_argument: the query is wrong,
//         with the database's message; unavailable: the database is locked.
// Thread: open(): any; the rows of a query: one thread at a time. All calls may block.
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
  std::string_view chars{};  ///< the text or bytes, valid until next() is called
};

class sql_rows {
 public:
  virtual ~sql_rows() = default;
  virtual std::size_t columns() const = 0;
  virtual std::string column_name(std::size_t column) const = 0;
  /// Moves to the next row, the first time to row 0. Returns false if no row is left.
  virtual bool next() = 0;
  /// The value of the current row.
  virtual sql_value value(std::size_t column) const = 0;
};

/// Opens the file read-only, and begins the query. It uses at most kSqlMemoryBytes of memory while the rows object
/// lives.
using open_sql_function = std::unique_ptr<sql_rows> (*)(const std::string& path, const std::string& query);
inline constexpr std::size_t kSqlMemoryBytes = std::size_t{1} << 20;

/// Sets the function that runs queries from now on. Thread: any.
void use_sql(open_sql_function open);
/// Errors: throws failed_precondition if no database is registered in this program; and those above.
std::unique_ptr<sql_rows> open_sql(const std::string& path, const std::string& query);

}  // namespace sluice::lib
