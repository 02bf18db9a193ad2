// SPDX-License-Identifier: Apache-2.0
// sql: numbers in the rows of a table.
#include "sluice/op/sql.hpp"

#if SLUICE_HAVE_SQLITE

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "sluice/io/sqlite_rows.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/sql_model.hpp"

namespace sluice::lib::sql_case {
namespace {

using namespace test;

const bool is_registered = (register_sqlite(), true);

/// Rows 0 … a - 1. Not a function of the plan's seed or place: one database for each length. `bad`: of some the number is NULL.
const std::string& database_of(std::int64_t a, std::uint64_t b, bool bad) {
  static std::mutex lock;
  static std::map<std::pair<std::int64_t, std::uint64_t>, std::unique_ptr<temporary_database>> all;
  const std::uint64_t which = bad ? b : 1000;
  const std::lock_guard guard(lock);
  auto& made = all[{a, which}];
  if (made) return made->path();
  std::string rows = "CREATE TABLE t(id INTEGER PRIMARY KEY, number INTEGER, text TEXT, half REAL);";
  for (std::int64_t i = 0; i != a; ++i) {
    const std::string n = std::to_string(i);
    rows += "INSERT INTO t VALUES(" + n + "," + (bad && is_bad(i, b) ? "NULL" : n) + ",'text " + n + "'," +
            (i % 3 == 1 ? "NULL" : n + ".5") + ");";
  }
  made = std::make_unique<temporary_database>("t" + std::to_string(a) + "_" + std::to_string(which) + ".db", rows);
  return made->path();
}

dataset<std::int64_t> numbers_in(const verb_plan& p, bool bad) {
  return sql<query_row>(database_of(p.a, p.b, bad), "SELECT number, text, half FROM t ORDER BY id") |
         map([from = p.opened_for](const query_row& r) {
           const bool is_right =
               r.text == "text " + std::to_string(r.number) && r.half.has_value() == (r.number % 3 != 1);
           return source_element(is_right ? r.number : -1, from);
         });
}

const register_verb sql_case("sql", {.inputs = 0,
                                     .size = some_length,
                                     .build = [](const verb_plan& p) { return numbers_in(p, false); },
                                     .expected = source_elements});

const register_verb sql_failing_case("sql failing", {.inputs = 0,
                                                     .meets_errors = true,
                                                     .size = some_length,
                                                     .build = [](const verb_plan& p) { return numbers_in(p, true); },
                                                     .expected =
                                                         [](const verb_lists& l) {
                                                           int64s out;
                                                           for (std::int64_t i = 0; i != l.a; ++i)
                                                             if (!is_bad(i, l.b)) out.push_back(l.element(i));
                                                           return out;
                                                         }});

}  // namespace
}  // namespace sluice::lib::sql_case

#endif
