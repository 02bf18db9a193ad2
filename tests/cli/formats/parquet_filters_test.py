# SPDX-License-Identifier: Apache-2.0
"""Random tables in Parquet files of several row groups, written by pyarrow, DuckDB and Polars: a filter by random conditions keeps the
rows that DuckDB keeps, with the rule skip_by_bounds and without it, and positions of one run resume the other. Skipped without these
libraries (./dev deps formats).

  python3 tests/cli/formats/parquet_filters_test.py --tables 300 --seed 7
"""
import json
import os
import pathlib
import random
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "remote"))
from parquet_libraries import ROOT, drawn, duckdb, polars
from parquet_libraries import pyarrow as pa
from program import main, sluice
from served import ServedTest

pq = pa.parquet
TABLES, SEED = drawn(25)

WORDS = ["", "a", "ab", "b", "ba", "z", "é", "中", "z" * 70 + "a", "z" * 70 + "b"]
TYPES = [pa.int8(), pa.int32(), pa.int64(), pa.uint32(), pa.uint64(), pa.float32(), pa.float64(), pa.string()]
OPERATORS = ["<", "<=", "==", ">=", ">"]


def random_column(r, t, rows):
    """Values that rise slowly, so that groups have different bounds."""
    nulls, base = r.choice([0, 0, 0.2, 0.95]), r.choice([0, 0, -3, 2**53 - 5, 2**60])
    if str(t) in ("int8", "int32", "uint32", "float"):
        base = min(base, 0)
    if str(t).startswith("u"):
        base = max(base, 0)
    values = []
    for i in range(rows):
        step = i // 9 + r.randint(0, 2)
        v = WORDS[step % len(WORDS)] if pa.types.is_string(t) else base + step * (0.25 if pa.types.is_floating(t) else 1)
        values.append(None if r.random() < nulls else v)
    return pa.array(values, t)


def random_literal(r, column):
    present = [v.as_py() for v in column if v.is_valid]
    if pa.types.is_string(column.type):
        return json.dumps(r.choice(WORDS + ["c", "zz"]), ensure_ascii=False)
    v = r.choice(present or [0]) + r.choice([0, 0, 1, -1, 0.5, 100])
    if pa.types.is_integer(column.type):
        v = int(v) if r.random() < 0.8 or abs(v) > 2**50 else float(v)
    return repr(v)


def random_condition(r, table):
    terms = []
    for _ in range(r.randint(1, 3)):
        name = r.choice(table.column_names)
        literal, op = random_literal(r, table.column(name)), r.choice(OPERATORS)
        terms.append(f"{literal} {op} {name}" if r.random() < 0.2 and not literal.startswith("-") else f"{name} {op} {literal}")
    return " && ".join(terms)


def as_sql(condition):
    return condition.replace(" && ", " and ").replace(" == ", " = ").replace('"', "'")


def has_parquet():
    return "Parquet                    yes" in sluice("doctor").stdout


NO_PARQUET = "this sluice was built without Arrow C++: ./dev deps formats, then build it again"


class Reads(ServedTest):
    def test_an_optimizer_reads_the_end_of_a_file_once(self):
        """Its indexes exclude nothing, and another rule changes the plan, so the rules are applied again."""
        if not has_parquet():
            self.skipTest(NO_PARQUET)
        rows = 400_000
        table = pa.table({"x": [i % 1000 for i in range(rows)], "y": [i / 2 for i in range(rows)]})
        pq.write_table(table, self.served / "a.parquet", row_group_size=100_000, max_rows_per_page=100, write_page_index=True)
        plan = f'parquet("{self.url("a.parquet")}") | filter(x == 500) | map(x)'

        def requests(*more):
            self.server.asked.clear()
            done = sluice("explain", plan, *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            return len(self.server.asked), done.stdout
        for_footer, _ = requests("--rule", "skip_by_bounds=off")
        for_both, said = requests()
        self.assertIn("prune_columns", said)
        self.assertEqual((for_footer, for_both), (2, 4), "to open the file, and to read the footer; the same for the indexes")


class Filters(unittest.TestCase):
    def setUp(self):
        if not has_parquet():
            self.skipTest(NO_PARQUET)

    def run_plan(self, plan, *more):
        done = sluice("run", plan, "--output", "jsonl", *more)
        self.assertEqual(done.returncode, 0, f"{plan}\n{done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_random_conditions(self):
        skipping = 0
        with tempfile.TemporaryDirectory() as folder:
            for i in range(TABLES):
                r = random.Random(SEED * 100003 + i)
                with self.subTest(seed=SEED, table=i):
                    skipping += self.check(r, folder)
        print(f"seed {SEED}: {skipping} of {TABLES} plans skip row groups")
        self.assertGreater(skipping, TABLES // 5)

    def check(self, r, folder):
        rows = r.choice([1, r.randint(5, 60), r.randint(60, 200)])
        columns = {f"c{k}": random_column(r, r.choice(TYPES), rows) for k in range(r.randint(1, 3))}
        table, path = pa.table({"row": pa.array(range(rows), pa.int64())} | columns), os.path.join(folder, "a.parquet")
        writer = r.choice(["pyarrow", "pyarrow", "polars", "duckdb"])
        if writer == "pyarrow":
            blooms = {name: {"ndv": 100, "fpp": 0.01} for name in table.column_names if r.random() < 0.5}
            pq.write_table(table, path, row_group_size=r.choice([3, 10, 40]), use_dictionary=r.random() < 0.5, write_statistics=r.random() < 0.9,
                           write_page_index=r.random() < 0.7, max_rows_per_page=r.choice([1, 2, 20000]), bloom_filter_options=blooms)
        elif writer == "polars":
            polars.from_arrow(table).write_parquet(path, row_group_size=r.choice([3, 10, 40]))
        else:
            arrow_rows = table  # noqa: F841, DuckDB finds it by its name
            duckdb.sql(f"copy (from arrow_rows) to '{path}' (format parquet)")
        condition = random_condition(r, table)
        expected = [n for n, in duckdb.sql(f"select row from '{path}' where {as_sql(condition)} order by row").fetchall()]
        plan = f'parquet("{path}") | filter({condition}) | map((row, index()))'
        wanted = [{"0": n, "1": k} for k, n in enumerate(expected)]
        pairs = [[n, k] for k, n in enumerate(expected)]
        with_rules = self.run_plan(plan)
        self.assertIn(with_rules, (wanted, pairs), f"{writer}: {condition}\n{table.schema}")
        self.assertEqual(self.run_plan(plan, "--no-optimize"), with_rules, f"{writer}: {condition}")
        if len(expected) > 1:
            self.check_resume(r, plan, with_rules, os.path.join(folder, "at"))
        return any(line.startswith("| filter") and "skip_by_bounds" in line for line in sluice("explain", plan).stdout.splitlines())

    def check_resume(self, r, plan, whole, at):
        first = r.randint(1, len(whole) - 1)
        how = r.choice([["--no-optimize"], []]), r.choice([["--no-optimize"], []])
        began = self.run_plan(plan, "--limit", str(first), "--checkpoint", at, *how[0])
        rest = self.run_plan(plan, "--resume", at, *how[1])
        os.remove(at)
        self.assertEqual(began + rest, whole, f"{first} elements with {how}")

    def bytes_read(self, path, condition):
        """The rows, and the bytes that the reader has read during the run."""
        report = os.path.join(os.path.dirname(path), "report.json")
        plan = f'parquet("{path}") | filter({condition})'
        rows = self.run_plan(plan, "--report", f"json:{report}")
        self.assertEqual(rows, self.run_plan(plan, "--no-optimize"))
        stages = json.loads(pathlib.Path(report).read_text())["run"]["stages"]
        return rows, sum(s["read_bytes"] for s in stages if s["name"].startswith("parquet"))

    def test_pages_exclude_groups_that_the_footer_does_not(self):
        """Each group has values from 0 to 999,999, and no page has one near 500,000."""
        rows = 20_000
        values = [i % rows if i % rows < rows // 2 else 1_000_000 - rows + i % rows for i in range(5 * rows)]
        table = pa.table({"x": pa.array(values, pa.int64()), "y": pa.array([i / 2 for i in range(5 * rows)])})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.parquet")
            read = {}
            for has_index in (False, True):
                pq.write_table(table, path, row_group_size=rows, max_rows_per_page=1000, write_page_index=has_index, use_dictionary=False)
                found, read[has_index] = self.bytes_read(path, "x == 500000")
                self.assertEqual(found, [])
            print(f"{os.path.getsize(path)} bytes: {read[False]} read without an index of pages, {read[True]} with it")
            # With it only the footer is read in the run; without it both columns.
            size = os.path.getsize(path)
            self.assertGreater(read[False], size // 2)
            self.assertLess(read[True], min(size, 70_000))
            # Rows within a group are skipped, too.
            found, _ = self.bytes_read(path, "x < 10 && y >= 20000")
            self.assertEqual(len(found), 30)

    def test_bloom_filters_exclude_groups(self):
        """Absent values between the least and the greatest one of each group."""
        count = 60_000
        arrow_rows = pa.table({"s": [f"v{i % 50 * 2}" for i in range(count)], "x": [i % 50 * 2 for i in range(count)],  # noqa: F841
                               "u": pa.array([i % 50 * 2 for i in range(count)], pa.uint32())})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.parquet")
            for writer in ("duckdb", "pyarrow"):
                if writer == "duckdb":
                    duckdb.sql(f"copy (from arrow_rows) to '{path}' (format parquet, row_group_size 20000, compression uncompressed)")
                else:
                    pq.write_table(arrow_rows, path, row_group_size=20000, compression="none", use_dictionary=False,
                                   bloom_filter_options={name: {"ndv": 50, "fpp": 0.001} for name in arrow_rows.column_names})
                for condition in ('s == "v3"', "x == 33", "u == 33"):
                    found, read = self.bytes_read(path, condition)
                    self.assertEqual(found, [], condition)
                    self.assertLess(read, 70_000, f"{writer}: {condition}")   # of the footer
                self.assertGreater(os.path.getsize(path), 100_000)
                self.assertEqual(len(self.bytes_read(path, "x == 34")[0]), count // 50)

    def test_damage_in_a_skipped_group_is_not_found(self):
        damaged = ROOT / "tests/verbs/data/parquet/damaged.parquet"   # in `half` of the rows 4 to 7
        plan = f'parquet("{damaged}") | filter(id > 7) | map(half)'
        self.assertEqual(self.run_plan(plan), [4.0, 4.5])
        without = sluice("run", plan, "--output", "jsonl", "--rule", "skip_by_bounds=off")
        self.assertNotEqual(without.returncode, 0)
        self.assertIn('column "half" in row group 1', without.stderr)


if __name__ == "__main__":
    main()
