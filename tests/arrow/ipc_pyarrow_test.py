# SPDX-License-Identifier: Apache-2.0
"""pyarrow reads our IPC streams, and we read its: values, nulls, nesting, empty batches, 10,000 random schemas and batches.

What `sluice run --output arrow:FILE` writes equals what --output jsonl:FILE does; what pyarrow writes is read by from_arrow.
Skipped where pyarrow cannot be imported and not be had (pyarrow_test.py).
"""
import ctypes
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

import pyarrow_test  # which fetches pyarrow, or skips

if "pyarrow" not in sys.modules:
    PYTHON, WHY = pyarrow_test.get_pyarrow()
    if not PYTHON or "--no-install" in sys.argv:
        sys.exit(pyarrow_test.skipped(f"pyarrow cannot be imported, and not be had: {WHY}"))
    os.execv(PYTHON, [str(PYTHON), __file__, "--no-install"])
import pyarrow as pa  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM") or str(pathlib.Path(os.environ.get("SLUICE_BUILD", ROOT / "build")) / "sluice")
GOLDEN = ROOT / "tests/golden"
RANDOM = pyarrow_test.RANDOM


# --- Random streams, in memory ---

def load():
    shim = ctypes.CDLL(str(pyarrow_test.SHIM))
    shim.shim_write_ipc.restype = shim.shim_read_ipc.restype = ctypes.c_char_p
    shim.shim_write_ipc.argtypes = [ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint64)]
    shim.shim_read_ipc.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint64]
    return shim


def written_by_us(shim, seed):
    at, size = ctypes.c_void_p(), ctypes.c_uint64()
    said = shim.shim_write_ipc(seed, ctypes.byref(at), ctypes.byref(size)).decode()
    return said, ctypes.string_at(at.value, size.value)


def written_by_pyarrow(batches, schema, as_file):
    sink = pa.BufferOutputStream()
    with (pa.ipc.new_file if as_file else pa.ipc.new_stream)(sink, schema) as writer:
        for b in batches:
            writer.write_batch(b)
    return sink.getvalue().to_pybytes()


def equal(batches, said):
    lines = [json.loads(line) for line in said.splitlines()]
    return len(lines) == len(batches) and all(map(pyarrow_test.batch_same, batches, lines))


def try_random(check, shim):
    wrong, rows, read, started = [], 0, 0, time.monotonic()
    for seed in range(RANDOM):
        said, stream = written_by_us(shim, seed)
        reader = pa.ipc.open_stream(stream)
        batches = list(reader)
        for b in batches:
            b.validate(full=True)
        if not equal(batches, said):
            wrong.append(f"seed {seed}: {reader.schema}\n{batches}\n{said}")
            continue
        rows += sum(b.num_rows for b in batches)
        theirs = [pyarrow_test.changed(b, seed) for b in batches]
        schema = theirs[0].schema if theirs else reader.schema
        theirs = [b for b in theirs if b.schema == schema]
        stream = written_by_pyarrow(theirs, schema, False)
        said = shim.shim_read_ipc(seed, stream, len(stream)).decode()
        if said.startswith("error") or not equal(theirs, said):
            wrong.append(f"seed {seed} back: {schema}\n{theirs}\n{said}")
        read += sum(b.num_rows for b in theirs)
    check.clean("random streams that are not equal", wrong[:3])
    check.expect(rows > 3 * RANDOM and read > 3 * RANDOM, f"the streams have {rows} and {read} rows only")
    print(f"{RANDOM} random streams, {rows} rows out, {read} rows in: {time.monotonic() - started:.1f} s")


# --- The program ---

def sluice(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)


def run_to(check, plan, output, *options):
    done = sluice("run", plan, "--output", output, *options)
    check.expect(done.returncode == 0, f"{plan} --output {output}: {done.stderr}")


def float32(text):
    """The shortest text of a float, as the double that pyarrow makes of it."""
    return struct.unpack("f", struct.pack("f", float(text)))[0]


def try_outputs(check, folder):
    schema = '"text: bytes, label: int64, values: float[16]"'
    (folder / "raw").mkdir()
    subprocess.run([PROGRAM, "sample", str(folder / "raw"), "--records", "3000", "--shards", "2"], check=True, capture_output=True)
    shards = f'list_files("{folder}/raw/*") | interleave(tfrecord)'
    plans = {
        "range(0)": 0, "range(0) | batch(4)": 0, "range(5000)": 5000, "range(10) | batch(4)": 10,
        f"{shards} | parse_example({schema})": 3000,
        f"{shards} | batch(100) | parse_example({schema})": 3000,
        f"{shards} | take(10) | enumerate()": 10,
        f"{shards} | take(10)": 10,
        f'lines("{GOLDEN}/unix.txt")': None,
    }
    out, lines = folder / "out.arrow", folder / "out.jsonl"
    for plan, rows in plans.items():
        run_to(check, plan, f"arrow:{out}")
        run_to(check, plan, f"jsonl:{lines}")
        batches = list(pa.ipc.open_stream(out.read_bytes()))
        for b in batches:
            b.validate(full=True)
        said = [json.loads(line, parse_float=float32) for line in lines.read_text().splitlines()]
        if "batch(" in plan:
            right = len(said) == len(batches) and all(map(pyarrow_test.batch_same, batches, said))
        else:
            values = [row if len(row) > 1 else row["value"] for b in batches for row in b.to_pylist()]
            right = len(said) == len(values) and all(map(pyarrow_test.same, values, said))
            right = right and all(b.num_rows == 1024 for b in batches[:-1])
        check.expect(right, f"{plan}: --output arrow differs from --output jsonl\n{batches[:1]}\n{said[:1]}")
        found = sum(b.num_rows for b in batches)
        check.expect(rows is None or found == rows, f"{plan}: {found} rows")
    # A file as an argument: it is told by its beginning.
    run_to(check, "range(5000)", f"arrow:{out}")
    done = sluice("count", out)
    check.expect(done.stdout.split()[:1] == ["5000"], f"count of an Arrow file: {done.stdout}{done.stderr}")
    # A pipe, an interrupted run, what has no form.
    done = subprocess.run([PROGRAM, "run", "range(3000)", "--output", "arrow:-"], capture_output=True, timeout=60)
    check.expect(pa.ipc.open_stream(done.stdout).read_all()["value"].to_pylist() == list(range(3000)), "a pipe has other rows")
    here, plan = folder / "here", "range(100000) | shuffle(50, seed=3)"
    run_to(check, plan, f"arrow:{out}")
    whole = pa.ipc.open_stream(out.read_bytes()).read_all()
    resumed = folder / "resumed.arrow"
    run_to(check, plan, f"arrow:{resumed}", "--limit", 30001, "--checkpoint", here, "--every", "7000")
    part = pa.ipc.open_stream(resumed.read_bytes()).read_all()
    check.expect(part.equals(whole.slice(0, 30001)), "a run to a limit has other rows")
    run_to(check, plan, f"arrow:{resumed}", "--resume", here, "--checkpoint", here)
    check.expect(pa.ipc.open_stream(resumed.read_bytes()).read_all().equals(whole), "a run that was resumed has other rows")
    (folder / "latin.txt").write_bytes(b"caf\xe9\n")
    done = sluice("run", f'lines("{folder}/latin.txt")', "--output", f"arrow:{out}")
    check.expect(done.returncode == 1 and "is not UTF-8: the format arrow-binary" in done.stderr, done.stderr)
    run_to(check, f'lines("{folder}/latin.txt")', f"arrow-binary:{out}")
    check.expect(pa.ipc.open_stream(out.read_bytes()).read_all()["value"].to_pylist() == [b"caf\xe9"], "binary texts differ")


def jsonl(plan, *options):
    done = sluice("run", plan, "--output", "jsonl", "--quiet", *options)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def try_sources(check, folder):
    """from_arrow reads what pyarrow writes: streams and files, with nulls, nested and empty."""
    path = folder / "theirs.arrow"
    rows = [{"text": f"é{i}" if i % 3 else None, "label": i, "weight": i / 4 if i % 5 else None, "flag": i % 2 == 0,
             "tags": [i, None][:i % 3], "at": {"x": i, "names": ["a"] * (i % 4)}, "raw": bytes([i]), "none": None}
            for i in range(50)]
    schema = pa.schema([("text", pa.string()), ("label", pa.int64()), ("weight", pa.float64()), ("flag", pa.bool_()),
                        ("tags", pa.list_(pa.int32())), ("at", pa.struct([("x", pa.int16()), ("names", pa.large_list(pa.large_string()))])),
                        ("raw", pa.large_binary()), ("none", pa.null())])
    table = pa.Table.from_pylist(rows, schema=schema)
    cuts = [0, 7, 7, 30, 50]
    batches = [b for a, e in zip(cuts, cuts[1:]) for b in (table.slice(a, e - a).to_batches() or [pa.RecordBatch.from_pylist([], schema=schema)])]
    for as_file in (False, True):
        path.write_bytes(written_by_pyarrow(batches, schema, as_file))
        said, why = jsonl(f'from_arrow("{path}")')
        check.expect(len(said) == 4 and all(map(pyarrow_test.batch_same, batches, said)), f"from_arrow differs: {why}\n{said[:1]}")
        said, why = jsonl(f'from_arrow("{path}", schema="label: int64, weight: double?") | unbatch')
        expected = [{"label": r["label"], "weight": r["weight"]} for r in rows]
        check.expect(said == expected, f"two columns differ: {why}\n{said[:3]}")
    # What is written is read: the whole way round, and by way of a checkpoint in the middle.
    again, here = folder / "again.arrow", folder / "there"
    run_to(check, f'from_arrow("{path}")', f"arrow:{again}")
    back = list(pa.ipc.open_stream(again.read_bytes()))
    check.expect([b.to_pylist() for b in back] == [b.to_pylist() for b in batches], "rows differ after the way round")
    run_to(check, f'from_arrow("{path}")', f"arrow:{again}", "--limit", 2, "--checkpoint", here)
    run_to(check, f'from_arrow("{path}")', f"arrow:{again}", "--resume", here)
    back = list(pa.ipc.open_stream(again.read_bytes()))
    check.expect([b.to_pylist() for b in back] == [b.to_pylist() for b in batches], "rows differ after a resume")

    def refused(table, *words, schema=None, options=None):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
            writer.write_table(table)
        path.write_bytes(sink.getvalue().to_pybytes())
        said, why = jsonl(f'from_arrow("{path}")' if schema is None else f'from_arrow("{path}", schema="{schema}")')
        check.expect(said == [] and all(w in why for w in (*words, str(path))), f"not refused as it should be: {why}")
    one = pa.table({"day": pa.array([1, 2], pa.int64())})
    refused(one, '"day"', "int64", "string", schema="day: string")
    refused(one, '"label"', "no such column", schema="label: int64")
    refused(pa.table({"day": one["day"].cast(pa.decimal128(21, 2))}), '"day"', "decimal128(21, 2)", "cast it")
    refused(pa.table({"day": one["day"].cast(pa.decimal128(21, 2)).dictionary_encode()}), '"day"', "decimal128(21, 2)", "cast it")
    refused(pa.table({"day": one["day"].cast(pa.decimal128(21, 2)), "n": one["day"]}), '"day"', 'schema="n: int64?"')
    refused(pa.table({"day": one["day"].cast(pa.date64())}), '"day"', "date64", "string", schema="day: string")
    refused(pa.table({"day": pa.array([None, [1]], pa.list_(pa.int64()))}), '"day"', "value 0 is null", schema="day: int64[]")
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, one.schema, options=pa.ipc.IpcWriteOptions(metadata_version=pa.ipc.MetadataVersion.V4)) as writer:
        writer.write_table(one)
    path.write_bytes(sink.getvalue().to_pybytes())
    check.expect(jsonl(f'from_arrow("{path}") | unbatch')[0] == [{"day": 1}, {"day": 2}], "metadata of version 4 is not read")
    # One column named "value" is rows that are not structures, unless it is one.
    for inner in ({"x": 1}, {"value": {"value": {"x": 7}}}):
        table = pa.table({"value": [inner, inner]})
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table)
        said, why = jsonl(f'from_arrow("{path}") | unbatch')
        check.expect(said == [{"value": inner}] * 2, f"a structure named value differs: {said} {why}")
    many = pa.table({f"c{i}": pa.nulls(1 << 22) for i in range(3)})
    with pa.ipc.new_stream(path, many.schema) as writer:
        writer.write_table(many)
    said, why = jsonl(f'from_arrow("{path}")')
    check.expect(said == [] and "values in a body" in why, f"12 M nulls in no bytes are read: {why}")


def main():
    if not pyarrow_test.SHIM.exists():
        return pyarrow_test.skipped(f"there is no {pyarrow_test.SHIM}: a build with a sanitizer has none")
    check = pyarrow_test.tree.checks()
    with tempfile.TemporaryDirectory() as folder:
        try_outputs(check, pathlib.Path(folder))
        try_sources(check, pathlib.Path(folder))
    try_random(check, load())
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
