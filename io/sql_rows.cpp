// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/sql_rows.hpp"

#include <atomic>

#include "sluice/base/status.hpp"

namespace sluice::lib {

namespace {
std::atomic<open_sql_function> used_sql = nullptr;  // relaxed: no other memory depends on a function's address
}  // namespace

void use_sql(open_sql_function open) { used_sql.store(open, std::memory_order_relaxed); }

std::unique_ptr<sql_rows> open_sql(const std::string& path, const std::string& query) {
  open_sql_function open = used_sql.load(std::memory_order_relaxed);
  if (!open)
    throw_status(
        failed_precondition_error("this program has no database: link sluice-sqlite, and call register_sqlite() "
                                  "(sluice/io/sqlite_rows.hpp) first"));
  return open(path, query);
}

}  // namespace sluice::lib
