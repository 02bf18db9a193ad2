# SPDX-License-Identifier: Apache-2.0
"""Missing values in expressions against SQL: random expressions over columns with nulls have SQLite's values, and filter
keeps the rows that WHERE keeps. SLUICE_TEST_SEED sets the first seed."""
import json
import os
import random
import sqlite3

from program import ProgramTest, lines_of, main

SEED = int(os.environ.get("SLUICE_TEST_SEED", 1))
PLANS = 60 if os.environ.get("SLUICE_TEST_BUDGET") == "small" else 250
EXPRESSIONS_A_PLAN = 16
COLUMNS = {"a": "number", "b": "number", "n": "number", "x": "number", "s": "text", "t": "text", "p": "bool", "q": "bool"}
NULLABLE = "abxstpq"  # n is never null
TYPES = {"a": "int64?", "b": "int64?", "n": "int64", "x": "double?", "s": "string?", "t": "string?", "p": "bool?", "q": "bool?"}
COMPARISONS = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def random_rows(r):
    def some(value, nullable=True):
        return None if nullable and r.random() < 0.35 else value
    return [{"a": some(r.randint(-3, 3)), "b": some(r.randint(-3, 3)), "n": r.randint(-3, 3), "x": some(r.randint(-6, 6) / 2),
             "s": some(r.choice(["", "k", "kl", "z"])), "t": some(r.choice(["", "k", "kl", "z"])),
             "p": some(r.random() < 0.5), "q": some(r.random() < 0.5)} for _ in range(24)]


class Writer:
    """Writes one expression in both languages: each function returns sluice's text and SQL's."""

    def __init__(self, r):
        self.r = r

    def column(self, kind):
        name = self.r.choice([c for c, k in COLUMNS.items() if k == kind])
        return name, name

    def number(self, depth):
        r = self.r
        choice = r.randrange(9) if depth else r.randrange(2)
        if choice == 0:
            value = r.randint(-3, 3)
            return f"({value})", f"({value})"
        if choice == 1 or depth == 0:
            return self.column("number")
        if choice == 2:
            a, b = self.number(depth - 1)
            return f"-({a})", f"-({b})"
        if choice == 3:
            c, d = self.boolean(depth - 1)
            a, b = self.number(depth - 1)
            e, f = self.number(depth - 1)
            # Both branches are doubles, so that neither language converts one of them.
            return f"if({c}, ({a}) * 1.0, ({e}) * 1.0)", f"case when {d} then ({b}) * 1.0 else ({f}) * 1.0 end"
        if choice == 4:
            a, b = self.text(depth - 1)
            return f"length({a})", f"length({b})"
        if choice == 5:
            name = r.choice("abx")
            return f"value_or({name}, 2)", f"coalesce({name}, {2.0 if name == 'x' else 2})"
        if choice == 6:
            a, b = self.number(depth - 1)
            c, d = self.number(depth - 1)
            f = r.choice(["min", "max"])
            return f"{f}(({a}) * 1.0, ({c}) * 1.0)", f"{f}(({b}) * 1.0, ({d}) * 1.0)"
        a, b = self.number(depth - 1)
        c, d = self.number(depth - 1)
        op = r.choice("+-*")
        return f"({a}) {op} ({c})", f"({b}) {op} ({d})"

    def text(self, depth):
        r = self.r
        choice = r.randrange(4) if depth else r.randrange(2)
        if choice == 0:
            value = r.choice(["", "k", "kl"])
            return f'"{value}"', f"'{value}'"
        if choice == 1 or depth == 0:
            return self.column("text")
        if choice == 2:
            a, b = self.text(depth - 1)
            return f"upper({a})", f"upper({b})"
        a, b = self.text(depth - 1)
        c, d = self.text(depth - 1)
        return f"({a}) + ({c})", f"({b}) || ({d})"

    def presence(self):
        r = self.r
        name = r.choice(NULLABLE)
        shown = r.choice([f"{name} != none", f"none != {name}", f"has_value({name})", f"!is_none({name})"])
        missing = r.choice([f"{name} == none", f"is_none({name})", f"!({name} != none)"])
        return (shown, f"({name} is not null)") if r.random() < 0.5 else (missing, f"({name} is null)")

    def boolean(self, depth):
        r = self.r
        choice = r.randrange(8) if depth else r.randrange(2)
        if choice == 0 or depth == 0:
            return self.column("bool")
        if choice == 1:
            return self.presence()
        if choice == 2:
            a, b = self.boolean(depth - 1)
            return f"!({a})", f"not ({b})"
        if choice in (3, 4):
            a, b = self.boolean(depth - 1)
            c, d = self.boolean(depth - 1)
            op, sql = r.choice([("&&", "and"), ("||", "or")])
            return f"({a}) {op} ({c})", f"(({b}) {sql} ({d}))"
        kind = r.choice([self.number, self.number, self.text])
        a, b = kind(depth - 1)
        c, d = kind(depth - 1)
        op = r.choice(list(COMPARISONS))
        return f"({a}) {op} ({c})", f"(({b}) {COMPARISONS[op]} ({d}))"

    def any(self):
        depth = self.r.randint(1, 4)
        kind = self.r.choice(["number", "text", "bool", "bool"])
        return kind, {"number": self.number, "text": self.text, "bool": self.boolean}[kind](depth)


def as_sluice(kind, value):
    return value if value is None or kind != "bool" else bool(value)


class SqlNulls(ProgramTest):
    def table(self, seed):
        rows = random_rows(random.Random(seed))
        path = self.path("rows.jsonl")
        with open(path, "w") as file:
            for row in rows:
                file.write(json.dumps(row) + "\n")
        db = sqlite3.connect(":memory:")
        db.execute("create table r (id integer, a integer, b integer, n integer, x real, s text, t text, p integer, q integer)")
        db.executemany("insert into r values (?,?,?,?,?,?,?,?,?)", [(i, *row.values()) for i, row in enumerate(rows)])
        schema = ", ".join(f"{name}: {TYPES[name]}" for name in COLUMNS)
        return f'jsonl("{path}", "{schema}")', db

    def test_random_expressions_have_the_values_of_sqlite(self):
        checked = missing = 0
        for seed in range(SEED, SEED + PLANS):
            plan, db = self.table(seed)
            writer = Writer(random.Random(seed * 7919))
            written = [writer.any() for _ in range(EXPRESSIONS_A_PLAN)]
            fields = ", ".join(f"e{k}: {text}" for k, (_, (text, _)) in enumerate(written))
            made = lines_of(self.ok("run", f"{plan} | map({{{fields}}})", "--output", "jsonl", "--quiet"))
            for k, (kind, (text, sql)) in enumerate(written):
                wanted = [as_sluice(kind, row[0]) for row in db.execute(f"select {sql} from r order by id")]
                self.assertEqual([row[f"e{k}"] for row in made], wanted, f"seed {seed}: {text}\n{sql}")
                checked += len(wanted)
                missing += wanted.count(None)
        self.assertGreater(missing, checked // 10)
        self.assertLess(missing, checked * 9 // 10)

    def test_filter_keeps_what_where_keeps(self):
        for seed in range(SEED, SEED + PLANS // 2):
            plan, db = self.table(seed)
            text, sql = Writer(random.Random(seed * 6271)).boolean(4)
            made = lines_of(self.ok("run", f"{plan} | enumerate | map({{id: first, row: second}})"
                                    f" | map({{id: id, a: row.a, b: row.b, n: row.n, x: row.x, s: row.s, t: row.t, p: row.p, q: row.q}})"
                                    f" | filter({text}) | map(id)", "--output", "jsonl", "--quiet"))
            wanted = [row[0] for row in db.execute(f"select id from r where {sql} order by id")]
            self.assertEqual(made, wanted, f"seed {seed}: {text}\n{sql}")


main()
