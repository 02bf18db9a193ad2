// SPDX-License-Identifier: Apache-2.0
// What the cases of sql and its tests share. For builds with SQLite.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "support/trials/printed_run.hpp"

namespace sluice::lib::sql_case {

/// A database in the folder of temporary files, as long as it lives.
class temporary_database {
 public:
  temporary_database(const std::string& name, const std::string& statements) : file_(name, "") {
    sqlite3* d = nullptr;
    sqlite3_open(file_.path().c_str(), &d);
    char* why = nullptr;
    const std::string all = "PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF; BEGIN;" + statements + "COMMIT;";
    if (sqlite3_exec(d, all.c_str(), nullptr, nullptr, &why) != SQLITE_OK) throw std::runtime_error(why);
    sqlite3_close(d);
  }
  const std::string& path() const { return file_.path(); }

 private:
  test::temporary_file file_;
};

struct query_row {
  std::int64_t number = 0;
  std::string text;
  std::optional<double> half;
};

}  // namespace sluice::lib::sql_case
