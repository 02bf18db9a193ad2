# SPDX-License-Identifier: Apache-2.0
"""Random tables, written as Parquet by pyarrow, DuckDB and Polars, are read by sluice as pyarrow reads them; what sluice writes is read
the same by all three. Skipped without them (./dev deps formats). SLUICE_TEST_PARQUET_TABLES is the number of tables, or --tables:

  python3 tests/cli/formats/parquet_tables_test.py --tables 2000 --seed 7
"""
import datetime
import decimal
import math
import os
import pathlib
import random
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from parquet_libraries import drawn, duckdb, expected_rows, has, polars, rows_of
from parquet_libraries import pyarrow as pa
from program import main, sluice

pq = pa.parquet
TABLES, SEED = drawn(int(os.environ.get("SLUICE_TEST_PARQUET_TABLES", "30")))

SCALARS = [pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float32(),
           pa.float64(), pa.string(), pa.binary(), pa.date32(), pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("us", "UTC"),
           pa.time64("us"), pa.decimal128(9, 2), pa.decimal128(30, 5)]
ARROW_ONLY = [pa.float16(), pa.binary(5), pa.large_string(), pa.timestamp("ns"), pa.duration("us"), pa.decimal256(50, 3),
              pa.dictionary(pa.int32(), pa.string())]


def random_type(r, depth, scalars):
    if depth == 0 or r.random() < 0.65:
        return r.choice(scalars)
    inner = lambda: random_type(r, depth - 1, [s for s in scalars if not pa.types.is_dictionary(s)])  # noqa: E731
    kind = r.randrange(3)
    if kind == 0:
        return pa.list_(inner())
    if kind == 1:
        return pa.struct([(f"m{k}", inner()) for k in range(r.randint(1, 3))])
    return pa.map_(pa.string(), inner())


def random_value(r, t, nulls=0.2):
    if r.random() < nulls:
        return None
    if pa.types.is_boolean(t):
        return r.random() < 0.5
    if pa.types.is_integer(t):
        low, high = (0, 2**t.bit_width - 1) if str(t).startswith("u") else (-2**(t.bit_width - 1), 2**(t.bit_width - 1) - 1)
        return r.choice([low, high, r.randint(low, high), max(low, min(high, r.randint(0, 9)))])
    if pa.types.is_floating(t):
        return r.choice([0.0, -1.5, float(r.randint(-1000, 1000)), math.inf])
    if pa.types.is_string(t) or pa.types.is_large_string(t):
        return "".join(r.choice("aäb 中") for _ in range(r.randrange(12)))
    if pa.types.is_fixed_size_binary(t):
        return r.randbytes(t.byte_width)
    if pa.types.is_binary(t):
        return r.randbytes(r.randrange(12))
    if pa.types.is_date(t):
        return datetime.date(1970, 1, 1) + datetime.timedelta(days=r.randint(-20000, 20000))
    if pa.types.is_timestamp(t):
        return datetime.datetime(2020, 1, 1) + datetime.timedelta(milliseconds=r.randint(-10**12, 10**12))
    if pa.types.is_time(t):
        return datetime.time(r.randrange(24), r.randrange(60), r.randrange(60), r.randrange(10**6))
    if pa.types.is_duration(t):
        return datetime.timedelta(microseconds=r.randint(-10**9, 10**9))
    if pa.types.is_decimal(t):
        return decimal.Decimal(r.randint(-10**min(t.precision - 1, 25), 10**min(t.precision - 1, 25))).scaleb(-t.scale)
    if pa.types.is_dictionary(t):
        return r.choice(["x", "y", "zz"])
    if pa.types.is_map(t):
        return [(f"k{i}", random_value(r, t.item_type)) for i in range(r.randrange(3))]
    if pa.types.is_list(t):
        return [random_value(r, t.value_type) for _ in range(r.randrange(4))]
    return {f.name: random_value(r, f.type) for f in t}


def random_table(r, by_arrow):
    scalars = SCALARS + (ARROW_ONLY if by_arrow else [])
    rows = r.choice([0, 1, r.randint(2, 40), r.randint(100, 1500)])
    columns = {}
    for k in range(r.randint(1, 5)):
        t = random_type(r, 2, scalars)
        nulls = r.choice([0, 0.2, 0.9])
        columns[f"c{k}"] = pa.array([random_value(r, t, nulls) for _ in range(rows)], t)
    return pa.table(columns)


def written_by_pyarrow(r, table, path):
    pq.write_table(table, path, row_group_size=r.choice([7, 100, 10**6]), compression=r.choice(["none", "snappy", "gzip", "zstd", "lz4", "brotli"]),
                   use_dictionary=r.random() < 0.5, data_page_version=r.choice(["1.0", "2.0"]), data_page_size=r.choice([100, 2**20]),
                   write_statistics=r.random() < 0.5, write_page_index=r.random() < 0.5, write_page_checksum=r.random() < 0.5,
                   store_schema=r.random() < 0.7, version=r.choice(["2.4", "2.6"]))


def written_by_duckdb(r, arrow_rows, path):
    codec, size = r.choice(["uncompressed", "snappy", "gzip", "zstd", "lz4"]), r.choice([2048, 122880])
    version = r.choice(["V1", "V2"])
    duckdb.sql(f"copy (from arrow_rows) to '{path}' (format parquet, codec '{codec}', row_group_size {size}, parquet_version '{version}')")


def written_by_polars(r, table, path):
    polars.from_arrow(table).write_parquet(path, compression=r.choice(["uncompressed", "snappy", "gzip", "zstd", "lz4"]),
                                           row_group_size=r.choice([7, 100, 10**6]), data_page_size=r.choice([100, 2**20]))


class Tables(unittest.TestCase):
    def setUp(self):
        if "Parquet                    yes" not in sluice("doctor").stdout:
            self.skipTest("this sluice was built without Arrow C++: ./dev deps formats, then build it again")

    def test_random_tables(self):
        counts = {}
        with tempfile.TemporaryDirectory() as folder:
            for i in range(TABLES):
                r = random.Random(SEED * 100003 + i)
                with self.subTest(seed=SEED, table=i):
                    done = self.check(r, folder)
                    counts[done] = counts.get(done, 0) + 1
        print(f"seed {SEED}: {counts}")
        self.assertGreater(sum(n for words, n in counts.items() if words != "not written"), TABLES // 2)

    def check(self, r, folder):
        writer = r.choice(["pyarrow", "pyarrow", "duckdb", "polars"])
        table = random_table(r, writer == "pyarrow")
        path, out = os.path.join(folder, "a.parquet"), os.path.join(folder, "out")
        try:
            {"pyarrow": written_by_pyarrow, "duckdb": written_by_duckdb, "polars": written_by_polars}[writer](r, table, path)
            truth = pq.read_table(path)
        except Exception:   # a type that this writer does not have
            return "not written"
        expected = expected_rows(truth)
        done = sluice("run", f'parquet("{path}")', "--output", f"arrow:{out}.arrow")
        self.assertEqual(done.returncode, 0, f"{truth.schema}\n{done.stderr}")
        self.assertEqual(rows_of(pa.ipc.open_stream(f"{out}.arrow").read_all()), expected, f"{writer}: {truth.schema}")
        size = r.choice(["1KiB", "64MiB"])
        done = sluice("run", f'parquet("{path}") | batch({r.choice([1, 5, 1000])})', "--output", f"parquet:{out}.parquet", "--row-group-size", size,
                      "--compression", r.choice(["automatic", "none", "gzip", "lz4"]))
        self.assertEqual(done.returncode, 0, f"{truth.schema}\n{done.stderr}")
        self.assertEqual(rows_of(pq.read_table(f"{out}.parquet")), expected, f"written from {writer}: {truth.schema}")
        # Durations have no type in Parquet, and the others do not read Arrow's schema.
        others = [f.name for f in truth.schema if not has(f.type, pa.types.is_duration) and not has(f.type, lambda t: str(t) == "timestamp[ns]")]
        if others and len(expected):
            wanted = [{k: row[k] for k in others} for row in expected]
            names = ", ".join(others)
            duck = duckdb.sql(f"set timezone = 'UTC'; select {names} from '{out}.parquet'").to_arrow_table()
            self.assertEqual(rows_of(duck), wanted, f"DuckDB reads {truth.schema}")
            frame = polars.read_parquet(f"{out}.parquet", columns=others).to_arrow()
            self.assertEqual(rows_of(frame), wanted, f"Polars reads {truth.schema}")
        return writer


if __name__ == "__main__":
    main()
