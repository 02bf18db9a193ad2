// SPDX-License-Identifier: Apache-2.0
// sluice/op/sql.hpp
#include "sluice/op/sql.hpp"

#if SLUICE_HAVE_SQLITE

#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/io/sqlite_rows.hpp"
#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "support/printed_run.hpp"
#include "support/verb_case.hpp"

namespace sluice::lib {
namespace {

using namespace test;
using Catch::Contains;
using Catch::Equals;

const bool is_registered = (register_sqlite(), true);

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
  temporary_file file_;
};

struct blob_row {
  std::string b;
};
struct id_row {
  std::int64_t id;
};

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

struct query_row {
  std::int64_t number = 0;
  std::string text;
  std::optional<double> half;
};

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

TEST_CASE("sql prints as text, and is read again") {
  const std::string text = "sql(\"a.db\", \"SELECT \\\"x\\\" FROM t\", \"number: int64, text: bytes, half: double?\")";
  CHECK(plan_text(*sql<query_row>("a.db", "SELECT \"x\" FROM t").plan()) == text);
}

TEST_CASE("sql gives the rows of its query, of the types that are said or found") {
  temporary_database db("types.db",
                        "CREATE TABLE t(i, r, s, b, n);"
                        "INSERT INTO t VALUES(1, 0.5, 'é', x'ff00', NULL);"
                        "INSERT INTO t VALUES(-9223372036854775808, 2, '', x'', 7);");
  const std::string head = "sql(\"" + db.path() + "\", ";
  auto found = parse_plan(head + "\"SELECT *, i AS i FROM t ORDER BY rowid\")");
  CHECK(found->type->name == "{i: int64, r: double, s: string, b: string, n: int64?, i_5: int64}");
  CHECK(run_of(found).elements ==
        std::vector<std::string>{
            "{\"i\":1,\"r\":0.5,\"s\":\"é\",\"b\":{\"base64\":\"/wA=\"},\"n\":null,\"i_5\":1}",
            "{\"i\":-9223372036854775808,\"r\":2.0,\"s\":\"\",\"b\":\"\",\"n\":7,\"i_5\":-9223372036854775808}"});
  CHECK(run_of(parse_plan(head + "\"SELECT i = 1, n, r FROM t;\", \"first: bool, n: int8 = -1, r: float\") | batch(2)"))
            .elements == std::vector<std::string>{"{\"first\":[true,false],\"n\":[-1,7],\"r\":[0.5,2.0]}"});
  auto alike = parse_plan(head + "\"SELECT i AS c_2, i AS c, r AS c, s AS c FROM t\")");
  CHECK(alike->type->name == "{c_2: int64, c: int64, c_2_2: double, c_3: string}");
  auto none = parse_plan(head + "\"SELECT i FROM t WHERE 0\")");
  CHECK(run_of(none).elements.empty());
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

TEST_CASE("errors of sql say what the database says, and of rows which") {
  temporary_database db("errors.db", "CREATE TABLE t(i); INSERT INTO t VALUES(1), (300), ('x'), (2), (NULL), (3);");
  const std::string head = "sql(\"" + db.path() + "\", ";
  auto plan = parse_plan(head + "\"SELECT i FROM t ORDER BY rowid\", \"i: int8\")");
  auto stopped = run_of(plan);
  CHECK(stopped.elements.size() == 1);
  CHECK_THAT(stopped.end,
             Contains("invalid_argument") && Contains("errors.db") && Contains("row 1: column i: int8 cannot be 300"));
  auto skipped = run_of(plan, error_policy::skip);
  CHECK(skipped.elements == std::vector<std::string>{"{\"i\":1}", "{\"i\":2}", "{\"i\":3}"});
  auto end_of = [&](const std::string& query, const std::string& schema) {
    return run_of(parse_plan(head + "\"" + query + "\", \"" + schema + "\")")).end;
  };
  CHECK_THAT(end_of("SELECT i FROM nowhere", "i: int8"), Contains("no such table: nowhere") && Contains("errors.db"));
  CHECK_THAT(end_of("SELECT i, i FROM t", "i: int8"), Contains("the query has 2 columns (i, i), and the schema 1 (i)"));
  CHECK_THAT(end_of("DELETE FROM t", "i: int8"), Contains("no SELECT"));
  CHECK_THAT(end_of("SELECT i FROM t; SELECT 2", "i: int8"), Contains("more than one statement"));
  CHECK_THAT(end_of("", "i: int8"), Contains("the query is empty"));
  CHECK_THAT(
      end_of("SELECT i FROM t WHERE i = ?", "i: int8"),
      Contains("invalid_argument") && Contains("errors.db") && Contains("a parameter, ?, and a plan has no values"));
  CHECK_THROWS_WITH(parse_plan(head + "\"SELECT i FROM t WHERE i = :most\")"), Contains("a parameter, :most, and"));
  CHECK_THAT(end_of("SELECT i FROM t WHERE i = '?'", "i: int8"), Equals("end"));
  CHECK_THAT(end_of("SELECT i FROM t WHERE i IS NULL", "i: int8"), Contains("row 0: column i is NULL: say a default"));
  CHECK_THAT(end_of("SELECT abs(-9223372036854775808)", "i: int64"), Contains("integer overflow"));
  temporary_file text("text.db", std::string(5000, 'x'));
  CHECK_THAT(run_of(parse_plan("sql(\"" + text.path() + "\", \"SELECT i FROM t\", \"i: int8\")")).end,
             Contains("data_loss"));
  CHECK_THROWS_WITH(parse_plan(head + "\"SELECT i FROM nowhere\")"), Contains("no such table"));
  CHECK_THROWS_WITH(parse_plan(head + "\"SELECT i FROM t\")"), Contains("numbers and texts"));
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
    CHECK_THAT(got.end, Contains("row 1: column v: double cannot be ") && Contains("CAST(… AS REAL)"));
  }
  auto rounded = run("SELECT 9007199791611905 AS v", ", \"v: float\"");
  CHECK(rounded.elements == std::vector<std::string>{"{\"v\":9.0072e+15}"});
  CHECK_THAT(run("SELECT 1e39 AS v", ", \"v: float\"").end, Contains("column v: float cannot be 1e+39"));
}

}  // namespace sluice::lib

#endif
