# SPDX-License-Identifier: Apache-2.0
"""group_by and top over random tables with missing values, against SQLite, and against DuckDB and pandas where they can be
imported (or are installed in ~/.cache/sluice-oracles: python3 -m venv there, pip install duckdb pandas).
SLUICE_TEST_TABLES sets the number of tables, SLUICE_TEST_SEED the first seed."""
import json
import os
import pathlib
import random
import sqlite3
import sys

from program import ProgramTest, lines_of, main

try:
    import duckdb
    import pandas
except ImportError:
    oracles = pathlib.Path.home() / ".cache/sluice-oracles/bin/python"
    if oracles.exists() and not sys.executable.startswith(str(oracles.parent)):
        os.execv(oracles, [str(oracles), *sys.argv])
    duckdb = pandas = None
    print("DuckDB and pandas are not installed: SQLite alone is compared with")

SEED = int(os.environ.get("SLUICE_TEST_SEED", 1))
TABLES = int(os.environ.get("SLUICE_TEST_TABLES", {"small": 20, "large": 2000}.get(os.environ.get("SLUICE_TEST_BUDGET"), 150)))
SCHEMA = "id: int64, k: int64?, t: string?, i: int64?, x: double?, s: string?"
AGGREGATES = "{n: count(), c: count(x), si: sum(i), sx: sum(x), m: mean(i), lo: min(x), hi: max(x), tl: min(s), th: max(s), one: first(i)}"
SQL = ("count(*), count(x), sum(i), sum(x), avg(i), min(x), max(x), min(s), max(s)")


def table(seed):
    r = random.Random(seed)

    def some(value):
        return None if r.random() < 0.25 else value
    return [{"id": n, "k": some(r.randint(-2, 3)), "t": some(r.choice(["", "a", "b", "ab"])), "i": some(r.randint(-9, 9)),
             "x": some(r.randint(-8, 8) / 2), "s": some(r.choice(["u", "v", "vw", ""]))} for n in range(r.choice([0, 1, 5, 40]))]


class Groups(ProgramTest):
    def made(self, rows, stages):
        path = self.path("rows.jsonl")
        with open(path, "w") as file:
            for row in rows:
                file.write(json.dumps(row) + "\n")
        return lines_of(self.ok("run", f'jsonl("{path}", "{SCHEMA}") | {stages}', "--output", "jsonl", "--quiet"))

    def in_sqlite(self, rows):
        db = sqlite3.connect(":memory:")
        db.execute("create table r (id integer, k integer, t text, i integer, x real, s text)")
        db.executemany("insert into r values (?,?,?,?,?,?)", [tuple(row.values()) for row in rows])
        return db

    def in_duckdb(self, rows):
        db = duckdb.connect()
        db.execute("create table r (id bigint, k bigint, t varchar, i bigint, x double, s varchar)")
        if rows:
            db.executemany("insert into r values (?,?,?,?,?,?)", [tuple(row.values()) for row in rows])
        return db

    def test_groups_are_those_of_the_databases(self):
        for seed in range(SEED, SEED + TABLES):
            rows, key = table(seed), "kt"[seed % 2]
            made = [tuple(row.values()) for row in self.made(rows, f"group_by({key}, {AGGREGATES})")]
            first = f"(select f.i from r f where f.{key} is r.{key} and f.i is not null order by f.id limit 1)"
            wanted = self.in_sqlite(rows).execute(f"select {key}, {SQL}, {first} from r group by {key} order by {key}").fetchall()
            self.assertEqual(made, wanted, f"SQLite, seed {seed}")
            if not duckdb:
                continue
            first = "first(i order by id) filter (where i is not null)"
            wanted = self.in_duckdb(rows).execute(
                f"select {key}, {SQL}, {first} from r group by {key} order by {key} nulls first").fetchall()
            self.assertEqual(made, wanted, f"DuckDB, seed {seed}")
            if rows:
                self.assertEqual(made, self.of_pandas(rows, key), f"pandas, seed {seed}")

    def of_pandas(self, rows, key):
        frame = pandas.DataFrame(rows, columns=["id", "k", "t", "i", "x", "s"]).astype(
            {"k": "Int64", "t": "string", "i": "Int64", "x": "Float64", "s": "string"})
        groups = frame.groupby(key, dropna=False, sort=True)
        columns = [groups.size(), groups["x"].count(), groups["i"].sum(min_count=1), groups["x"].sum(min_count=1), groups["i"].mean(),
                   groups["x"].min(), groups["x"].max(), groups["s"].min(), groups["s"].max(), groups["i"].first()]
        made = [(None if pandas.isna(k) else k, *(None if pandas.isna(c.iloc[n]) else c.iloc[n] for c in columns))
                for n, k in enumerate(columns[0].index)]
        return sorted(made, key=lambda row: (row[0] is not None, row[0] if row[0] is not None else 0))

    def test_the_largest_are_those_of_the_databases(self):
        for seed in range(SEED, SEED + TABLES):
            rows, by, n = table(seed), "xsik"[seed % 4], 1 + seed % 7
            made = self.made(rows, f"top({n}, by={by}) | map(id)")
            query = f"select id from r order by {by} desc nulls last, id limit {n}"
            self.assertEqual(made, [row[0] for row in self.in_sqlite(rows).execute(query)], f"SQLite, seed {seed}")
            if not duckdb:
                continue
            self.assertEqual(made, [row[0] for row in self.in_duckdb(rows).execute(query).fetchall()], f"DuckDB, seed {seed}")
            frame = pandas.DataFrame(rows, columns=["id", "k", "t", "i", "x", "s"])
            wanted = frame.sort_values(by, ascending=False, kind="stable", na_position="last").head(n)["id"].tolist()
            self.assertEqual(made, wanted, f"pandas, seed {seed}")


main()
