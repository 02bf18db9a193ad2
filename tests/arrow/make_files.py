# SPDX-License-Identifier: Apache-2.0
"""Writes the small Arrow files of tests/verbs/data/ with pyarrow: what rows read, and what fuzzing changes.

python3 tests/arrow/make_files.py [FOLDER]
"""
import datetime
import decimal
import pathlib
import sys

import pyarrow as pa
import pyarrow.feather

ZONE = "Europe/Berlin"


def stream(path, batches, **options):
    with pa.ipc.new_stream(str(path), batches[0].schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for b in batches:
            writer.write_batch(b)


def dictionary(indices, values, index=pa.int8()):
    return pa.DictionaryArray.from_arrays(pa.array(indices, index), values)


def plain():
    """Long enough that every buffer is compressed, with nulls."""
    return pa.table({
        "i": pa.array([None if i % 5 == 0 else i % 3 for i in range(200)], pa.int64()),
        "s": pa.array(["row" * (i % 4) for i in range(200)], pa.string()),
        "b": pa.array([i % 2 == 0 for i in range(200)], pa.bool_()),
    }, schema=pa.schema([pa.field("i", pa.int64()), pa.field("s", pa.string(), False), pa.field("b", pa.bool_(), False)]))


def dictionaries():
    """Three batches: a dictionary, one with more values, and another one; and a dictionary of numbers."""
    texts = [pa.array(["a", "b"]), pa.array(["a", "b", "c"]), pa.array(["x", None])]
    numbers = pa.array([2 ** 40, -1], pa.int64())
    rows = [[0, 1, None, 1], [2, 0], [0, 1, 0]]
    return [pa.record_batch({"n": pa.array(range(len(r)), pa.int32()), "d": dictionary(r, t),
                             "k": dictionary([i % 2 for i in range(len(r))], numbers, pa.uint16()),
                             "l": pa.array([["u", "v"], None, [], ["v"]][:len(r)], pa.list_(pa.dictionary(pa.int32(), pa.string())))})
            for r, t in zip(rows, texts)]


def temporal():
    when = [1_577_836_800, None, -1]
    columns = {f"ts_{u}": pa.array(when, pa.int64()).cast(pa.timestamp(u)) for u in ("s", "ms", "us", "ns")}
    columns["zoned"] = pa.array(when, pa.int64()).cast(pa.timestamp("us", ZONE))
    columns["d32"] = pa.array([18262, None, -1], pa.int32()).cast(pa.date32())
    columns["d64"] = pa.array([datetime.date(2020, 1, 1), None, datetime.date(1969, 12, 31)], pa.date64())
    for u in ("s", "ms"):
        columns[f"t32_{u}"] = pa.array([1, None, 86399], pa.int32()).cast(pa.time32(u))
    for u in ("us", "ns"):
        columns[f"t64_{u}"] = pa.array([1, None, 86399], pa.int64()).cast(pa.time64(u))
    for u in ("s", "ms", "us", "ns"):
        columns[f"du_{u}"] = pa.array([5, None, -5], pa.int64()).cast(pa.duration(u))
    return pa.record_batch(columns)


def kinds():
    return pa.record_batch({
        "view": pa.array(["short", None, "longer than twelve bytes"], pa.string_view()),
        "bytes": pa.array([b"\xff", None, b"another long value here"], pa.binary_view()),
        "large": pa.array(["a", None, "b"], pa.large_string()),
        "fixed": pa.array([b"ab", None, b"cd"], pa.binary(2)),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["x", None])),
        "half": pa.array([1.5, None, 65504.0], pa.float16()),
        "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int32())),
        "lists": pa.array([[1, 2], None, []], pa.list_view(pa.int16())),
        "none": pa.nulls(3),
    })


def unread():
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])
    return pa.record_batch({
        "n": pa.array([1, 2], pa.int64()), "price": pa.array([decimal.Decimal("1.50"), None], pa.decimal128(5, 2)),
        "either": union, "s": pa.array(["a", "b"]),
    })


def main(folder):
    for codec in ("lz4", "zstd"):
        pa.feather.write_feather(plain(), str(folder / f"arrow_{codec}.feather"), compression=codec, chunksize=80)
    stream(folder / "arrow_dictionaries.arrow", dictionaries(), emit_dictionary_deltas=True)
    stream(folder / "arrow_temporal.arrow", [temporal()])
    stream(folder / "arrow_kinds.arrow", [kinds()])
    stream(folder / "arrow_unread.arrow", [unread()], compression="lz4")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1] / "verbs/data"))
