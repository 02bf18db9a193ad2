# SPDX-License-Identifier: Apache-2.0
"""Parquet files of others: sluice reads the rows that pyarrow reads, or refuses them with the name of the column. SLUICE_PARQUET_FILES
names a folder whose *.parquet and *.parquet.encrypted are compared, such as a clone of https://github.com/apache/parquet-testing; without
it only files that this test writes and damages are. Skipped without pyarrow (./dev deps formats)."""
import collections
import datetime
import decimal
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from parquet_libraries import expected_rows, rows_of
from parquet_libraries import pyarrow as pa
from program import ProgramTest, main, sluice

pq = pa.parquet
ROWS = 60
LARGE = 1 << 30   # decoded, which pyarrow does not read into one table either
TABLE = pa.table({
    "id": pa.array(range(ROWS), pa.int64()),
    "name": pa.array([None if i % 7 == 3 else f"name {i % 5}" for i in range(ROWS)]),
    "real": pa.array([i / 4 for i in range(ROWS)], pa.float32()),
    "flag": pa.array([i % 3 == 0 for i in range(ROWS)]),
    "price": pa.array([decimal.Decimal(i).scaleb(-2) for i in range(ROWS)], pa.decimal128(9, 2)),
    "day": pa.array([datetime.date(2020, 1, 1) + datetime.timedelta(days=i) for i in range(ROWS)]),
    "list": pa.array([[j for j in range(i % 4)] if i % 5 else None for i in range(ROWS)], pa.list_(pa.int32())),
    "deep": pa.array([{"x": [{"y": str(i)}] * (i % 3)} for i in range(ROWS)])})


def with_whole(t):
    """The type with numbers in place of times."""
    if pa.types.is_timestamp(t) or pa.types.is_time(t) or pa.types.is_duration(t):
        return pa.int32() if t.bit_width == 32 else pa.int64()
    if pa.types.is_map(t):
        return pa.map_(with_whole(t.key_type), with_whole(t.item_type))
    if pa.types.is_list(t):
        return pa.list_(pa.field(t.value_field.name, with_whole(t.value_type), t.value_field.nullable))
    if pa.types.is_struct(t):
        return pa.struct([f.with_type(with_whole(f.type)) for f in t])
    return t


def with_whole_times(table):
    """Times as numbers: Python has no type for nanoseconds."""
    for k, f in enumerate(table.schema):
        if with_whole(f.type) != f.type:
            table = table.set_column(k, f.name, table.column(k).cast(with_whole(f.type)))
    return table


def decoded_bytes(path):
    """What the footer states."""
    try:
        about = pq.read_metadata(path)
        return sum(about.row_group(g).total_byte_size for g in range(about.num_row_groups))
    except Exception:  # noqa: BLE001, the comparison shows who reads the file
        return 0


def read_by_pyarrow(path):
    """The table; or the error as text."""
    try:
        return pq.ParquetFile(path).read(), ""
    except Exception as e:  # noqa: BLE001, any refusal of pyarrow
        return None, str(e).splitlines()[0] if str(e) else repr(e)


class Foreign(ProgramTest):
    def setUp(self):
        super().setUp()
        if "Parquet                    yes" not in sluice("doctor").stdout:
            self.skipTest("this sluice was built without Arrow C++: ./dev deps formats, then build it again")

    def compare(self, path):
        """Returns "equal", "refused", or what is wrong, and the program's words."""
        if decoded_bytes(path) > LARGE:
            return "large", ""
        out = self.path("out.arrow")
        done = sluice("run", f'parquet("{path}")', "--output", f"arrow:{out}")
        truth, why = read_by_pyarrow(path)
        said = done.stderr.strip()
        if done.returncode not in (0, 1, 2) or done.returncode and not said.startswith("sluice: "):
            return f"ended with {done.returncode}", said
        if done.returncode:
            is_of_file = any(words in said for words in ("the footer", "not a Parquet file", "encrypted", "the schema"))
            named = 'column "' in said or truth is None and is_of_file or "encrypted files are not read" in said
            return ("refused" if named else "refused without a column"), said
        if truth is None:
            return "read, and pyarrow refuses it", why
        ours = with_whole_times(pa.ipc.open_stream(out).read_all())
        if rows_of(ours) == expected_rows(with_whole_times(truth)):
            return "equal", ""
        return "other rows", f"{truth.schema}"

    def test_files_of_a_folder(self):
        folder = os.environ.get("SLUICE_PARQUET_FILES")
        if not folder:
            self.skipTest("SLUICE_PARQUET_FILES names no folder of Parquet files")
        counts = collections.Counter()
        files = [p for p in sorted(pathlib.Path(folder).rglob("*")) if p.name.endswith((".parquet", ".parquet.encrypted"))]
        self.assertTrue(files, folder)
        for path in files:
            with self.subTest(path=str(path.relative_to(folder))):
                verdict, what = self.compare(path)
                counts[verdict] += 1
                if verdict == "refused":
                    print(f"refused: {path.relative_to(folder)}: {what.splitlines()[0]}")
                self.assertIn(verdict, ("equal", "refused", "large"), what)
        print(f"{folder}: {dict(counts)}")

    def damage(self, r, good, checked):
        """A file with some changed bytes: rows, or an error that names a column where only pages are damaged."""
        data = bytearray(good)
        footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        in_pages = r.random() < 0.7
        for _ in range(r.choice([1, 1, 4, 40])):
            at = r.randrange(4, footer) if in_pages else r.randrange(footer, len(data))
            data[at] = r.randrange(256)
        path = self.path("damaged.parquet")
        pathlib.Path(path).write_bytes(data)
        done = sluice("run", f'parquet("{path}")', "--output", f"arrow:{self.path('out.arrow')}")
        self.assertIn(done.returncode, (0, 1, 2), done.stderr[-2000:])
        if done.returncode and in_pages:
            self.assertIn('column "', done.stderr)
        # A header of a page has no checksum: its flags may change without a consequence that can be found.
        return "refused" if done.returncode else "read"

    def test_damaged_files_are_read_or_refused(self):
        seed = random.randrange(10**9)
        r = random.Random(seed)
        counts = collections.Counter()
        for i in range(120):
            checked = r.random() < 0.5
            path = self.path("good.parquet")
            pq.write_table(TABLE, path, row_group_size=25, compression=r.choice(["none", "snappy", "zstd", "gzip"]), use_dictionary=r.random() < 0.5,
                           data_page_version=r.choice(["1.0", "2.0"]), data_page_size=r.choice([50, 2**20]), write_page_checksum=checked)
            if i % 30 == 0:
                self.assertEqual(self.compare(path), ("equal", ""))
            with self.subTest(seed=seed, file=i):
                counts[self.damage(r, pathlib.Path(path).read_bytes(), checked)] += 1
        print(f"seed {seed}: {dict(counts)}")
        self.assertGreater(counts["refused"], 40)

    def test_every_changed_value_is_found_by_a_checksum(self):
        """Of one column in one page, whose header comes first."""
        path = self.path("good.parquet")
        pq.write_table(TABLE.select(["id"]), path, compression="none", use_dictionary=False, write_page_checksum=True, write_statistics=False)
        good = pathlib.Path(path).read_bytes()
        first = good.index(TABLE.column("id").chunk(0).buffers()[1].to_pybytes()[:64])
        for at in range(first, first + 8 * ROWS, 7):
            data = bytearray(good)
            data[at] ^= 1 << at % 8
            pathlib.Path(path).write_bytes(data)
            done = sluice("run", f'parquet("{path}")', "--output", "null")
            self.assertEqual(done.returncode, 1, at)
            self.assertIn('column "id" in row group 0', done.stderr)


if __name__ == "__main__":
    main()
