# SPDX-License-Identifier: Apache-2.0
"""Files of pyarrow with random columns of every type: sluice reads the values that pyarrow reads, and writes the same types again.

Skipped where pyarrow cannot be imported and not be had (pyarrow_test.py). SLUICE_ARROW_FILES names a folder whose *.arrow, *.feather,
*.stream and *.arrow_file are compared too, such as Apache Arrow's integration files; SLUICE_TEST_ARROW_FILES is the number of random files.
"""
import collections
import json
import os
import pathlib
import random
import struct
import sys
import tempfile

import pyarrow_test  # which fetches pyarrow, or skips

if "pyarrow" not in sys.modules:
    PYTHON, WHY = pyarrow_test.get_pyarrow()
    if not PYTHON or "--no-install" in sys.argv:
        sys.exit(pyarrow_test.skipped(f"pyarrow cannot be imported, and not be had: {WHY}"))
    os.execv(PYTHON, [str(PYTHON), __file__, "--no-install"])
import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.compute as pc  # noqa: E402
import pyarrow.feather  # noqa: E402

import arrow_values as values  # noqa: E402
import tree  # noqa: E402

FILES = int(os.environ.get("SLUICE_TEST_ARROW_FILES", "60"))
UNITS = ("s", "ms", "us", "ns")
COUNTED = [pa.timestamp(u) for u in UNITS] + [pa.timestamp("us", "UTC"), pa.timestamp("ns", "+05:30")] + [pa.duration(u) for u in UNITS] + [
    pa.time64("us"), pa.time64("ns")]
NARROW = [pa.date32(), pa.time32("s"), pa.time32("ms")]
INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(3)]
PLAIN = INTEGERS + TEXTS + COUNTED + NARROW + [pa.bool_(), pa.float16(), pa.float32(), pa.float64(), pa.date64()]


def array_of(r, t, n):
    """n random values, a quarter of them null."""
    nulls = 0 if r.random() < 0.2 else 0.25
    absent = np.array([r.random() < nulls for _ in range(n)], bool)
    if t in COUNTED or t in NARROW:
        small = t in NARROW
        numbers = [r.choice([0, 1, r.randrange(86400)]) if "time" in str(t) and "stamp" not in str(t) else r.randrange(-2 ** 30, 2 ** 30) for _ in range(n)]
        return pa.array(numbers, pa.int32() if small else pa.int64(), mask=absent).cast(t)
    if t == pa.date64():
        return pa.array([r.randrange(-10000, 10000) * 86_400_000 for _ in range(n)], pa.int64(), mask=absent).cast(t)
    if pa.types.is_integer(t):
        low, high = (-(1 << (t.bit_width - 1)), (1 << (t.bit_width - 1)) - 1) if pa.types.is_signed_integer(t) else (0, (1 << t.bit_width) - 1)
        return pa.array([r.choice([low, high, r.randrange(low, high + 1)]) for _ in range(n)], t, mask=absent)
    if pa.types.is_boolean(t):
        return pa.array([r.random() < 0.5 for _ in range(n)], t, mask=absent)
    if pa.types.is_floating(t):
        numbers = np.array([r.choice([0.0, -1.5, 1e-4, float("inf"), float("nan"), r.gauss(0, 100)]) for _ in range(n)])
        return pa.array(numbers.astype({16: np.float16, 32: np.float32, 64: np.float64}[t.bit_width]), t, mask=absent)
    if t in TEXTS:
        fixed = t == pa.binary(3)
        texts = [bytes(r.randrange(97, 123) for _ in range(3 if fixed else r.choice([0, 1, 12, 13, 40]))) for _ in range(n)]
        return pa.array([None if a else x if "binary" in str(t) else x.decode() for x, a in zip(texts, absent)], t)
    raise AssertionError(t)


def nested(r, n):
    """A column that is made of others."""
    inner = r.choice(PLAIN)
    offsets = [0]
    for _ in range(n):
        offsets.append(offsets[-1] + r.randrange(4))
    kind = r.randrange(8)
    if kind == 0:
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), array_of(r, inner, offsets[-1]))
    if kind == 1:
        return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), array_of(r, inner, offsets[-1]))
    if kind == 2:
        return pa.FixedSizeListArray.from_arrays(array_of(r, inner, 2 * n), 2)
    if kind == 3:
        return pa.StructArray.from_arrays([array_of(r, inner, n), array_of(r, pa.string(), n)], ["a", "b"],
                                          mask=pa.array([r.random() < 0.2 for _ in range(n)], pa.bool_()))
    if kind == 4:
        keys = pa.array([f"k{i}" for i in range(offsets[-1])])
        return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), keys, array_of(r, inner, offsets[-1]))
    if kind == 5:
        indices = pa.array([None if r.random() < 0.2 else r.randrange(4) for _ in range(n)], r.choice(INTEGERS))
        return pa.DictionaryArray.from_arrays(indices, array_of(r, inner, 4))
    if kind == 6:
        simple = array_of(r, r.choice([pa.int64(), pa.string(), pa.float32(), pa.bool_()]), n)
        repeated = simple.take(pa.array(sorted(r.randrange(n) for _ in range(n)), pa.int64())) if n else simple
        return pc.run_end_encode(repeated, run_end_type=r.choice([pa.int16(), pa.int32(), pa.int64()]))
    starts = [r.randrange(10) for _ in range(n)]
    return pa.ListViewArray.from_arrays(pa.array(starts, pa.int32()), pa.array([r.randrange(10 - s + 1) for s in starts], pa.int32()),
                                        array_of(r, inner, 10))


def random_batches(r):
    makers = [(lambda n, t=r.choice(PLAIN): array_of(r, t, n)) if r.random() < 0.6 else None for _ in range(r.randrange(1, 6))]
    n = r.choice([0, 1, 7, 8, 9, 100, 2000])
    arrays = [m(n) if m else nested(r, n) for m in makers]
    batch = pa.record_batch(arrays, names=[f"c{i}" for i in range(len(arrays))])
    cut = r.randrange(n + 1)
    return [batch.slice(0, cut), batch.slice(cut)]  # the second begins within its buffers


def write(path, batches, as_file, codec):
    options = pa.ipc.IpcWriteOptions(compression=codec, emit_dictionary_deltas=not as_file)
    with (pa.ipc.new_file if as_file else pa.ipc.new_stream)(str(path), batches[0].schema, options=options) as writer:
        for b in batches:
            writer.write_batch(b)


def try_random(check, folder):
    counts = collections.Counter()
    for seed in range(FILES):
        r = random.Random(seed)
        path = folder / "random.arrow"
        batches = random_batches(r)
        write(path, batches, r.random() < 0.5, r.choice([None, "lz4", "zstd"]))
        verdict, what = values.compare(path)
        counts[verdict] += 1
        check.expect(verdict == "equal", f"seed {seed}, {batches[0].schema}: {verdict}: {what}")
        if verdict == "equal":
            try_again(check, seed, path, folder / "again.arrow", r.choice(["none", "lz4", "zstd"]))
    print(f"{FILES} random files: {dict(counts)}")


def is_kept(t):
    """The type of such a column is written again as it was read."""
    return t in COUNTED or t in NARROW or t == pa.date64() or pa.types.is_integer(t) or t in (pa.float32(), pa.float64(), pa.string(), pa.binary(), pa.bool_())


def try_again(check, seed, path, again, codec):
    """What sluice writes has the same values, and the same types where it has them."""
    code, _, why = values.sluice("convert", path, again, "--compression", codec, "--overwrite")
    if code and "is not UTF-8" in why:
        return
    check.expect(code == 0, f"seed {seed}: convert: {why}")
    if code:
        return
    schema, batches = values.read_by_pyarrow(path)
    written, ours = values.read_by_pyarrow(again)
    for b in ours:
        b.validate(full=True)
    check.expect(values.same(values.rows_of(ours, schema.names), values.rows_of(batches, schema.names)), f"seed {seed}: convert changes values")
    for field in schema:
        if is_kept(field.type):
            check.expect(written.field(field.name).type == field.type, f"seed {seed}: {field.type} becomes {written.field(field.name).type}")


def try_verbs(check, folder):
    """The verbs of files over the file that pyarrow.feather writes by default."""
    path = folder / "default.feather"
    table = pa.table({"day": pa.array([18262, None, 0], pa.int32()).cast(pa.date32()), "who": pa.array(["a", "b", "a"]).dictionary_encode()})
    pyarrow.feather.write_feather(table, str(path))
    code, out, why = values.sluice("count", path)
    check.expect((code, out) == (0, b"3\n"), f"count: {out}{why}")
    code, out, why = values.sluice("head", path)
    check.expect(code == 0 and json.loads(out.splitlines()[0]) == {"day": 18262, "who": "a"}, f"head: {out}{why}")
    code, out, why = values.sluice("verify", path)
    check.expect(code == 0 and b"3 sound records" in out, f"verify: {out}{why}")
    code, out, why = values.sluice("describe", path)
    check.expect(code == 0 and b"date32?" in out and b'"a"' in out, f"describe: {out}{why}")
    code, out, why = values.sluice("convert", path, folder / "default.csv")
    check.expect((folder / "default.csv").read_text() == "day,who\n18262,a\n,b\n0,a\n", f"convert: {why}")


def try_bombs(check, folder):
    """A small file that stands for much more than the memory budget is an error of its batch, and no more."""
    path = folder / "bomb.arrow"
    text = pa.array(["x" * (1 << 20)])
    batches = [pa.record_batch({"d": pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int8()), text)}) for n in (1000, 1)]
    write(path, batches, False, None)
    for options, wanted in (((), 1), (("--on-error", "skip"), 0)):
        code, out, why = values.sluice("run", f'from_arrow("{path}") | unbatch | map(length(d))', "--output", "jsonl:-", "--memory-budget", "64MiB", *options)
        check.expect(code == wanted and (code == 0 or "resource_exhausted" in why), f"a dictionary's bomb {options}: {code} {out[:200]}{why}")
    zeros = pa.record_batch({"z": pa.array(np.zeros(40_000_000, np.int64))})
    write(path, [zeros], False, "zstd")
    code, _, why = values.sluice("count", f'from_arrow("{path}") | unbatch', "--memory-budget", "64MiB")
    check.expect(code == 1 and "resource_exhausted" in why and "z" in why, f"a compressed bomb: {code} {why}")


def try_files(check):
    """The files of a folder that exists outside of this project."""
    folder = os.environ.get("SLUICE_ARROW_FILES")
    if not folder:
        return print("skipped: SLUICE_ARROW_FILES names no folder of Arrow files")
    counts = collections.Counter()
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.suffix in (".arrow", ".feather", ".stream", ".arrow_file"):
            verdict, what = values.compare(path)
            counts[verdict] += 1
            check.expect(verdict != "wrong", f"{path}: {what}")
    print(f"{folder}: {dict(counts)}")


def main():
    check = tree.checks()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        try_random(check, folder)
        try_verbs(check, folder)
        try_bombs(check, folder)
    try_files(check)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
