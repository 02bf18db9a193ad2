// SPDX-License-Identifier: Apache-2.0
// sluice/op/sql.hpp
#include "sluice/op/sql.hpp"

#if SLUICE_HAVE_SQLITE

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/io/sqlite_rows.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"
#include "verbs/sql_model.hpp"

namespace sluice::lib::sql_test {
namespace {

using namespace test;
using namespace sql_case;

struct blob_row {
  std::string b;
};
struct id_row {
  std::int64_t id;
};

}  // namespace

TEST_CASE("sql prints as text, and is read again") {
  const std::string text = "sql(\"a.db\", \"SELECT \\\"x\\\" FROM t\", \"number: int64, text: bytes, half: double?\")";
  CHECK(plan_text(*sql<query_row>("a.db", "SELECT \"x\" FROM t").plan()) == text);
}

TEST_CASE("rows of many bytes are asked for a few at a time") {
  temporary_database db(
      "blobs.db",
      "CREATE TABLE t(b); INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
      "i < 100) SELECT zeroblob(1000000) FROM n;");
  auto ds = sql<blob_row>(db.path(), "SELECT b FROM t");
  runtime rt({.workers = 1});
  auto largest = sync_wait(rt, [](runtime& on, node_ptr plan) -> task<std::size_t> {
    any_stream s = open_run(on, plan, {});
    std::size_t most = 0, rows = 0;
    while (auto b = co_await s.next_block({.elements = 100})) {
      most = std::max<std::size_t>(most, b.size());
      rows += b.size();
    }
    CHECK(rows == 100);
    co_return most;
  }(rt, ds.plan()));
  CHECK(largest <= 2);
}

TEST_CASE("a checkpoint does not fit a database to which was written, in the file or in its log") {
  for (const char* mode : {"DELETE", "WAL"}) {
    CAPTURE(mode);
    temporary_database db(std::string("written-") + mode + ".db", "CREATE TABLE t(id INTEGER PRIMARY KEY);");
    sqlite3* d = nullptr;
    sqlite3_open(db.path().c_str(), &d);
    auto run = [d](const std::string& statements) {
      return sqlite3_exec(d, statements.c_str(), nullptr, nullptr, nullptr);
    };
    CHECK(run(std::string("PRAGMA journal_mode=") + mode + "; INSERT INTO t VALUES(10), (20), (30);") == SQLITE_OK);
    auto ds = sql<id_row>(db.path(), "SELECT id FROM t ORDER BY id") | map([](const id_row& r) { return r.id; });
    consumed c = consume(ds, {.save = true});
    CHECK(c.elements == std::vector<std::int64_t>{10, 20, 30});
    CHECK(consume(ds, {.from = c.places[1]}).elements == std::vector<std::int64_t>{20, 30});
    CHECK(run("INSERT INTO t VALUES(5)") == SQLITE_OK);
    CHECK(consume(ds, {.from = c.places[1]}).why.code() == status_code::failed_precondition);
    sqlite3_close(d);
  }
}

TEST_CASE("a number of a database is exact, rounded once to a float, or an error of its row") {
  temporary_database db("numbers.db", "CREATE TABLE t(i);");
  auto run = [&](const std::string& values, const std::string& schema) {
    return run_of(parse_plan("sql(\"" + db.path() + "\", \"" + values + "\"" + schema + ")"));
  };
  auto mixed = run("SELECT 9007199254740992 AS v UNION ALL SELECT 2.5", "");
  CHECK(mixed.elements == std::vector<std::string>{"{\"v\":9007199254740992.0}", "{\"v\":2.5}"});
  for (const char* number : {"9007199254740993", "-9007199254740993", "9223372036854775807"}) {
    auto got = run(std::string("SELECT 2.5 AS v UNION ALL SELECT ") + number, "");
    CHECK(got.elements.size() == 1);
    CHECK_THAT(got.end, Catch::Contains("row 1: column v: double cannot be ") && Catch::Contains("CAST(… AS REAL)"));
  }
  auto rounded = run("SELECT 9007199791611905 AS v", ", \"v: float\"");
  CHECK(rounded.elements == std::vector<std::string>{"{\"v\":9.0072e+15}"});
  CHECK_THAT(run("SELECT 1e39 AS v", ", \"v: float\"").end, Catch::Contains("column v: float cannot be 1e+39"));
}

}  // namespace sluice::lib::sql_test

#endif
