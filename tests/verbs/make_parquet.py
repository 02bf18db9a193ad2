#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the Parquet files in tests/verbs/data/parquet, with pyarrow: `python3 tests/verbs/make_parquet.py`."""
import datetime
import decimal
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".cache/formats"))

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

DATA = ROOT / "tests/verbs/data/parquet"


def write(name, table, **how):
    pq.write_table(pa.table(table), DATA / name, **({"row_group_size": 4, "compression": "snappy"} | how))


def required(**columns):
    """A table whose columns have no nulls."""
    arrays = {name: pa.array(values, kind) for name, (values, kind) in columns.items()}
    schema = pa.schema([pa.field(name, array.type, nullable=False) for name, array in arrays.items()])
    return pa.table(list(arrays.values()), schema=schema)


def main():
    DATA.mkdir(exist_ok=True)
    n = range(10)
    # Groups of 4, 4 and 2 rows; pages with checksums.
    pq.write_table(required(id=(n, pa.int64()), half=([i / 2 for i in n], pa.float64()), name=([f"n{i}" for i in n], pa.string())),
                   DATA / "numbers.parquet", row_group_size=4, compression="none", write_page_checksum=True, use_dictionary=False)
    write("nulls.parquet", {"x": pa.array([None if i % 3 == 2 else i for i in n], pa.int32()), "t": pa.array([None if i % 2 else "a" * i for i in n])})
    write("types.parquet", {
        "flag": pa.array([True, None, False]),
        "small": pa.array([-1, 2, None], pa.int8()), "big": pa.array([2**64 - 1, None, 0], pa.uint64()),
        "half": pa.array([0.5, None, -2], pa.float16()), "real": pa.array([1.5, None, float("inf")], pa.float32()),
        "bytes": pa.array([b"\xff\x00", None, b""], pa.binary()), "fixed": pa.array([b"abc", None, b"\xff\xfe\xfd"], pa.binary(3)),
        "day": pa.array([datetime.date(2020, 1, 2), None, datetime.date(1969, 12, 31)]),
        "ms": pa.array([1, None, -1], pa.timestamp("ms")), "utc": pa.array([1, None, -1], pa.timestamp("us", "UTC")),
        "time": pa.array([datetime.time(1, 2, 3), None, datetime.time(0)]), "took": pa.array([5, None, -5], pa.duration("ns")),
        "price": pa.array([decimal.Decimal("12.50"), None, decimal.Decimal("-0.01")], pa.decimal128(10, 2)),
        "wide": pa.array([decimal.Decimal(10) ** 60, None, decimal.Decimal(-1)], pa.decimal256(70, 0)),
        "word": pa.array(["x", None, "x"]).dictionary_encode(),
    })
    write("nested.parquet", {
        "list": pa.array([[1, None], None, []], pa.list_(pa.int32())), "deep": pa.array([[["a"], []], [None], None], pa.list_(pa.list_(pa.string()))),
        "at": pa.array([{"x": 1.0, "y": [1]}, None, {"x": None, "y": None}], pa.struct([("x", pa.float64()), ("y", pa.list_(pa.int64()))])),
        "map": pa.array([[("a", 1), ("b", None)], [], None], pa.map_(pa.string(), pa.int32())),
        "box": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.float32(), 2)),
        "prices": pa.array([[decimal.Decimal("1.5"), None], None, []], pa.list_(pa.decimal128(5, 1))),
    })
    write("value.parquet", {"value": pa.array(["a", "b"])})
    write("empty.parquet", {"x": pa.array([], pa.int64())})
    pq.write_table(pa.table({"x": pa.array([2, 3], pa.int64()), "y": pa.array([1.5, None])}), DATA / "part-1.parquet")
    pq.write_table(pa.table({"x": pa.array([1], pa.int64())}), DATA / "part-0.parquet")
    # Two groups of three pages of 1,024 rows, with the bounds of pages and bloom filters: 0, 4, 8 …, and 2, 6, 10 ….
    groups = [range(0, 4 * 3072, 4), range(2, 4 * 3072, 4)]
    pq.write_table(required(k=([k for group in groups for k in group], pa.int64())), DATA / "indexed.parquet", row_group_size=3072,
                   use_dictionary=False, column_encoding="DELTA_BINARY_PACKED", write_batch_size=1024, max_rows_per_page=1024,
                   write_page_index=True, bloom_filter_options={"k": {"ndv": 3072, "fpp": 0.001}})
    good = (DATA / "numbers.parquet").read_bytes()
    meta = pq.ParquetFile(DATA / "numbers.parquet").metadata
    at = meta.row_group(1).column(1).data_page_offset + meta.row_group(1).column(1).total_compressed_size - 3
    (DATA / "damaged.parquet").write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
    (DATA / "cut.parquet").write_bytes(good[:-20])
    (DATA / "footer.parquet").write_bytes(b"PAR1" + b"\x15\x04" * 20 + (40).to_bytes(4, "little") + b"PAR1")
    (DATA / "long.parquet").write_bytes(b"PAR1" + bytes(8) + (2**31).to_bytes(4, "little") + b"PAR1")
    (DATA / "encrypted.parquet").write_bytes(good[:-4].replace(b"PAR1", b"PARE", 1) + b"PARE")
    (DATA / "short.parquet").write_bytes(b"PAR1")


if __name__ == "__main__":
    main()
