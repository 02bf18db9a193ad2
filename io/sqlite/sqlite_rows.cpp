// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/sqlite_rows.hpp"

#include <sqlite3.h>

#include <absl/strings/str_cat.h>

#include "sluice/base/status.hpp"
#include "sluice/io/open_meta_store.hpp"
#include "sluice/io/sql_rows.hpp"
#include "sluice/io/sqlite_meta_store.hpp"

namespace sluice::lib {
namespace {

constexpr int kReadPatienceMs = 5000;  // a commit of another process takes some 10 ms for an fsync; after 5 s it hangs

[[noreturn]] void fail_in_database(sqlite3* d, int code, const std::string& path, std::string_view what) {
  const std::string text = absl::StrCat(std::string(what), ": ", d ? sqlite3_errmsg(d) : sqlite3_errstr(code));
  status why;
  switch (code & 0xFF) {
    case SQLITE_CANTOPEN: why = not_found_error(text); break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: why = data_loss_error(text); break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_IOERR: why = unavailable_error(text); break;
    case SQLITE_NOMEM: why = resource_exhausted_error(text); break;
    default: why = invalid_argument_error(text);
  }
  throw_status(why.in_file(path));
}

class sqlite_rows final : public sql_rows {
 public:
  sqlite_rows(const std::string& path, const std::string& query) : path_(path) {
    try {
      open(query);
    } catch (...) {
      close();
      throw;
    }
  }
  sqlite_rows(const sqlite_rows&) = delete;
  ~sqlite_rows() override { close(); }

  std::size_t columns() const override { return static_cast<std::size_t>(sqlite3_column_count(query_)); }
  std::string column_name(std::size_t column) const override {
    const char* name = sqlite3_column_name(query_, static_cast<int>(column));
    return name ? name : "";
  }
  bool next() override {
    const int code = sqlite3_step(query_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail_in_database(database_, code, path_, "the query");
    return code == SQLITE_ROW;
  }
  sql_value value(std::size_t column) const override {
    const int at = static_cast<int>(column);
    sql_value v;
    switch (sqlite3_column_type(query_, at)) {
      case SQLITE_INTEGER:
        v.kind = sql_value::whole;
        v.number = sqlite3_column_int64(query_, at);
        break;
      case SQLITE_FLOAT:
        v.kind = sql_value::real;
        v.value = sqlite3_column_double(query_, at);
        break;
      case SQLITE_TEXT: v = chars_of(sql_value::text, sqlite3_column_text(query_, at), at); break;
      case SQLITE_BLOB: v = chars_of(sql_value::bytes, sqlite3_column_blob(query_, at), at); break;
      default: break;
    }
    return v;
  }

 private:
  void open(const std::string& query) {
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path_.c_str(), &database_, flags, nullptr);
    if (code != SQLITE_OK) fail_in_database(database_, code, path_, "cannot open the database");
    sqlite3_busy_timeout(database_, kReadPatienceMs);
    sqlite3_exec(database_, "PRAGMA cache_size=-512", nullptr, nullptr, nullptr);  // KiB
    // A query that reads no table, such as "select 1", does not look at the file.
    code = sqlite3_exec(database_, "PRAGMA schema_version", nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail_in_database(database_, code, path_, "cannot open the database");
    const char* rest = nullptr;
    code = sqlite3_prepare_v2(database_, query.c_str(), static_cast<int>(query.size()) + 1, &query_, &rest);
    if (code != SQLITE_OK) fail_in_database(database_, code, path_, "the query");
    if (!query_) throw_status(invalid_argument_error("the query is empty").in_file(path_));
    const std::string_view behind(rest);
    if (behind.find_first_not_of(" \t\r\n;") != behind.npos)
      throw_status(invalid_argument_error("the query has more than one statement").in_file(path_));
    if (!sqlite3_stmt_readonly(query_) || columns() == 0)
      throw_status(invalid_argument_error("the query is no SELECT: it gives no rows, or would write").in_file(path_));
    if (sqlite3_bind_parameter_count(query_) == 0) return;
    // Without values they would be NULL, which equals nothing.
    const char* name = sqlite3_bind_parameter_name(query_, 1);  // null for `?`
    throw_status(
        invalid_argument_error(absl::StrCat("the query has a parameter, ", name ? name : "?",
                                            ", and a plan has no values for parameters: write the value in its place"))
            .in_file(path_));
  }
  void close() noexcept {
    sqlite3_finalize(query_);
    sqlite3_close_v2(database_);
  }
  sql_value chars_of(sql_value::kind_type kind, const void* chars, int at) const {
    sql_value v;
    v.kind = kind;
    v.chars = {static_cast<const char*>(chars), static_cast<std::size_t>(sqlite3_column_bytes(query_, at))};
    return v;
  }

  std::string path_;
  sqlite3* database_ = nullptr;
  sqlite3_stmt* query_ = nullptr;
};

std::unique_ptr<sql_rows> open_sqlite_rows(const std::string& path, const std::string& query) {
  return std::make_unique<sqlite_rows>(path, query);
}

}  // namespace

void register_sqlite() {
  use_sql(open_sqlite_rows);
  use_sqlite_meta_store(open_sqlite_meta_store);
}

}  // namespace sluice::lib
