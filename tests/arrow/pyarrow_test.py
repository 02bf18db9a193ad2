# SPDX-License-Identifier: Apache-2.0
"""What pyarrow and NumPy make of our exports, and what we make of theirs: values, nulls, nesting, empty batches, 10,000 random ones.

The C structs are in memory of this process: libarrow_shim.so (python_shim.cpp) is loaded into it. pyarrow and NumPy are those
that can be imported, else those of .cache/pyarrow, which is filled from the package registry once; without either it is skipped.
"""
import base64
import ctypes
import gc
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tidy"))
import tree  # noqa: E402

SHIM = pathlib.Path(os.environ.get("SLUICE_BUILD", ROOT / "build")) / "libarrow_shim.so"
PLACE = ROOT / ".cache" / "pyarrow"
RANDOM = int(os.environ.get("SLUICE_TEST_ARROW_BATCHES", "10000"))


def skipped(why):
    print(f"skipped: {why}\n0 passed, 0 failed")
    return 0


def get_pyarrow():
    """A Python that can import pyarrow and NumPy; None and why not."""
    python = PLACE / "bin" / "python"
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", PLACE], check=True, capture_output=True, timeout=120)
        wanted = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--only-binary", ":all:",
                  "pyarrow", "numpy"]
        subprocess.run(wanted, check=True, capture_output=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as why:
        return None, str(why)
    return python, ""


try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    if __name__ == "__main__" and "--no-install" not in sys.argv:
        PYTHON, WHY = get_pyarrow()
        if not PYTHON:
            sys.exit(skipped(f"pyarrow and NumPy cannot be imported, and not be had: {WHY}"))
        os.execv(PYTHON, [str(PYTHON), __file__, "--no-install"])
    sys.exit(skipped("pyarrow and NumPy cannot be imported"))


# --- The structs, only as large as they are ---

class Schema(ctypes.Structure):
    _fields_ = [("words", ctypes.c_void_p * 9)]


class Array(ctypes.Structure):
    _fields_ = [("words", ctypes.c_void_p * 10)]


class Stream(ctypes.Structure):
    _fields_ = [("words", ctypes.c_void_p * 5)]


def load():
    shim = ctypes.CDLL(str(SHIM))
    for name in ("shim_random", "shim_read", "shim_stream", "shim_read_stream"):
        getattr(shim, name).restype = ctypes.c_char_p
    shim.shim_random.argtypes = shim.shim_read.argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]
    shim.shim_stream.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
    shim.shim_read_stream.argtypes = [ctypes.c_void_p]
    for name in ("shim_tensor", "shim_old_tensor"):
        getattr(shim, name).restype = ctypes.c_void_p
    shim.shim_tensor.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_int]
    shim.shim_old_tensor.argtypes = [ctypes.c_int64]
    shim.shim_own_tensor.restype, shim.shim_take_tensor.restype = ctypes.c_void_p, ctypes.c_char_p
    shim.shim_own_tensor.argtypes = [ctypes.c_char_p, ctypes.c_int64, ctypes.c_int]
    shim.shim_take_tensor.argtypes = [ctypes.c_void_p, ctypes.c_int]
    shim.shim_images.restype = ctypes.c_char_p
    shim.shim_images.argtypes = [ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
    return shim


def address(struct):
    return ctypes.addressof(struct)


# --- Values of pyarrow beside the JSON of ours ---

def same(value, text):
    """A text that is not UTF-8 is {"base64": …} there; a batch within a row is columns there, and a list of rows here."""
    if isinstance(value, bytes):
        if isinstance(text, dict):
            return text.keys() == {"base64"} and base64.b64decode(text["base64"]) == value
        return isinstance(text, str) and text.encode() == value
    if isinstance(value, dict):
        if isinstance(text, dict):
            return value.keys() == text.keys() and all(same(v, text[k]) for k, v in value.items())
        return isinstance(text, list) and len(text) == len(value) and all(map(same, value.values(), text))
    if isinstance(value, list):
        if isinstance(text, list) and len(text) == len(value) and all(map(same, value, text)):
            return True
        columns = list(text.values()) if isinstance(text, dict) else text
        if not isinstance(columns, list) or not all(isinstance(c, list) and len(c) == len(value) for c in columns):
            return False
        if not all(isinstance(v, dict) and len(v) == len(columns) for v in value):
            return False
        if isinstance(text, dict) and any(v.keys() != text.keys() for v in value):
            return False
        return all(same(v, c) for k, c in enumerate(columns) for v, c in zip((list(r.values())[k] for r in value), c))
    return type(value) is type(text) and value == text or (isinstance(value, float) and value == text)


def batch_values(batch):
    """As our JSON of a batch: the one column of rows that are not structures, or all columns."""
    if batch.schema.names == ["value"]:
        return batch.column(0).to_pylist()
    return {name: batch.column(k).to_pylist() for k, name in enumerate(batch.schema.names)}


def batch_same(batch, text):
    value = batch_values(batch)
    if isinstance(value, dict) and isinstance(text, list):
        return len(value) == len(text) and all(map(same, value.values(), text))
    return same(value, text)


# --- Arrays as others have them ---

def larger(t):
    """The same type with 64-bit offsets."""
    if pa.types.is_string(t):
        return pa.large_string()
    if pa.types.is_binary(t):
        return pa.large_binary()
    if pa.types.is_list(t):
        return pa.large_list(t.value_field.with_type(larger(t.value_type)))
    if pa.types.is_fixed_size_list(t):
        return pa.list_(t.value_field.with_type(larger(t.value_type)), t.list_size)
    if pa.types.is_struct(t):
        return pa.struct([f.with_type(larger(f.type)) for f in t])
    return t


def changed(batch, seed):
    """A batch with the same values, or some of them, laid out differently."""
    how = seed % 5
    if how == 1:
        first = seed % (batch.num_rows + 1)
        return batch.slice(first, (seed // 7) % (batch.num_rows - first + 1))
    if how == 2:
        schema = pa.schema([f.with_type(larger(f.type)) for f in batch.schema])
        return pa.record_batch([pa.array(c.to_pylist(), f.type) for c, f in zip(batch.columns, schema)], schema=schema)
    if how == 3:
        # Made by pyarrow: nulls reach into the children there, and validities are left out where there are none.
        return pa.record_batch([pa.array(c.to_pylist(), c.type) for c in batch.columns], schema=batch.schema)
    if how == 4:
        twice = pa.Table.from_batches([batch, batch.slice(batch.num_rows // 2)]).combine_chunks().to_batches()
        return twice[0] if twice else batch
    return batch


def try_random(check, shim):
    wrong, rows, read, started = [], 0, 0, time.monotonic()
    before = shim.shim_released()
    for seed in range(RANDOM):
        schema, array = Schema(), Array()
        said = shim.shim_random(seed, address(schema), address(array)).decode()
        if said.startswith("error"):
            wrong.append(f"seed {seed}: {said}")
            continue
        batch = pa.RecordBatch._import_from_c(address(array), address(schema))
        batch.validate(full=True)
        if not batch_same(batch, json.loads(said)):
            wrong.append(f"seed {seed}: {batch.schema}\n{batch_values(batch)}\n{said}")
            continue
        rows += batch.num_rows
        theirs = changed(batch, seed)
        schema, array = Schema(), Array()
        theirs._export_to_c(address(array), address(schema))
        said = shim.shim_read(seed, address(schema), address(array)).decode()
        if said.startswith("error") or not batch_same(theirs, json.loads(said)):
            wrong.append(f"seed {seed} back: {theirs.schema}\n{batch_values(theirs)}\n{said}")
        read += theirs.num_rows
        del batch, theirs
    gc.collect()
    check.clean("random batches that are not equal", wrong[:3])
    check.expect(rows > 3 * RANDOM and read > 3 * RANDOM, f"the batches have {rows} and {read} rows only")
    released = shim.shim_released() - before
    check.expect(released == RANDOM, f"of {RANDOM} arrays {released} were released")
    print(f"{RANDOM} random batches, {rows} rows out, {read} rows in: {time.monotonic() - started:.1f} s")


# --- A run ---

def post(i):
    return {"text": f"post {i}", "label": i, "tags": [10 * i + k for k in range(i % 3)], "weight": i / 4 if i % 2 else None,
            "flag": i % 5 == 0, "place": [float(i), float(-i)], "note": f"ä{i}" if i % 4 == 1 else None}


def run_of(shim, n, rows, fails_at=-1):
    stream = Stream()
    said = shim.shim_stream(n, rows, fails_at, address(stream)).decode()
    assert said == "ok", said
    return pa.RecordBatchReader._import_from_c(address(stream))


def try_runs(check, shim):
    reader = run_of(shim, 1000, 64)
    expected = pa.schema([pa.field("text", pa.string(), False), pa.field("label", pa.int64(), False),
                          pa.field("tags", pa.list_(pa.field("item", pa.int32(), False)), False), pa.field("weight", pa.float64()),
                          pa.field("flag", pa.bool_(), False),
                          pa.field("place", pa.list_(pa.field("item", pa.float32(), False), 2), False), pa.field("note", pa.string())])
    check.expect(reader.schema == expected, f"the schema is\n{reader.schema}")
    batches = list(reader)
    check.expect([b.num_rows for b in batches] == [64] * 15 + [40], f"batches of {[b.num_rows for b in batches]}")
    for b in batches:
        b.validate(full=True)
    check.expect([r for b in batches for r in b.to_pylist()] == [post(i) for i in range(1000)], "a run's rows are not equal")
    check.expect(run_of(shim, 0, 4).read_all().num_rows == 0, "an empty run has rows")

    # Batches outlive their stream and its runtime, and go on another thread.
    kept = batches[3]
    del reader, batches
    gc.collect()
    check.expect(kept.to_pylist() == [post(i) for i in range(192, 256)], "a batch has changed after its run")
    holder = [kept]
    del kept
    thread = threading.Thread(target=holder.clear)
    thread.start()
    thread.join()

    failing = run_of(shim, 100, 10, 35)
    got, words = 0, ""
    try:
        for b in failing:
            got += b.num_rows
    except (pa.ArrowException, OSError) as why:
        words = str(why)
    check.expect(got in (30, 35) and "data_loss: " in words and "post 35 is damaged" in words, f"{got} rows, then: {words}")
    left = run_of(shim, 1 << 40, 10)
    check.expect(left.read_next_batch().num_rows == 10, "a run without an end has no batch")
    del left  # stops the run

    # Theirs: a Python generator that is called on our threads.
    def theirs():
        for first in range(0, 60, 20):
            rows = [post(i) for i in range(first, first + 20)]
            yield pa.RecordBatch.from_pylist(rows, schema=expected)
        yield pa.RecordBatch.from_pylist([], schema=expected)

    def read(batches, schema=expected):
        stream = Stream()
        pa.RecordBatchReader.from_batches(schema, batches)._export_to_c(address(stream))
        return shim.shim_read_stream(address(stream)).decode()

    lines = [json.loads(line) for line in read(theirs()).splitlines()]
    check.expect([len(batch["label"]) for batch in lines] == [20, 20, 20, 0], "batches of a foreign stream have other sizes")
    rows = [dict(zip(batch, values)) for batch in lines for values in zip(*batch.values())]
    check.expect(rows == [post(i) for i in range(60)], "the rows of a foreign stream are not equal")

    def breaks():
        yield next(theirs())
        raise ValueError("no more batches")
    said = read(breaks())
    check.expect(said.startswith("error: ") and "from_arrow" in said and "no more batches" in said, said)

    def refused(change, *words):
        table = pa.Table.from_pylist([post(i) for i in range(8)], schema=expected)
        table = change(table)
        said = read(iter(table.to_batches()), table.schema)
        check.expect(said.startswith("error: ") and all(w in said for w in words), f"not refused as it should be: {said}")

    def cast(name, to):
        return lambda t: t.set_column(t.schema.get_field_index(name), name, t.column(name).cast(to))
    refused(cast("label", pa.int32()), 'column "label"', "int32", "int64")
    refused(cast("label", pa.decimal128(21, 2)), 'column "label"', "decimal128(21, 2)")
    refused(lambda t: t.drop_columns(["flag"]), 'column "flag"', "not optional")
    refused(lambda t: t.set_column(0, "text", t.column("label").dictionary_encode()), 'column "text"', "int64")
    refused(lambda t: t.set_column(1, "label", pa.array([1, 2, None] + [0] * 5, pa.int64())), 'column "label": value 2 is null')
    # Indices, runs and views are read as their values.
    table = pa.Table.from_pylist([post(i) for i in range(8)], schema=expected)
    column = table.column("text")
    for other in (column.dictionary_encode(), column.cast(pa.string_view()), pc.run_end_encode(column)):
        changed = table.set_column(table.schema.get_field_index("text"), "text", other)
        said = read(iter(changed.to_batches()), changed.schema)
        check.expect(not said.startswith("error") and json.loads(said)["text"] == column.to_pylist(), f"{other.type} differs: {said}")
    said = read(iter(pa.Table.from_pylist([post(i) for i in range(8)], schema=expected).drop_columns(["note"]).to_batches()),
                expected.remove(6))
    check.expect(not said.startswith("error") and json.loads(said)["note"] == [None] * 8, f"without an optional column: {said}")


# --- NumPy ---

class Capsule:
    """What __dlpack__ says of a tensor of ours."""

    def __init__(self, tensor, name):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsule = new(tensor, name, None)

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


def try_tensors(check, shim):
    values = np.array([[[10 * i + k for k in range(3)], [10 * i + k for k in range(3, 6)]] for i in range(50)], np.float32)
    expected = [values, -np.arange(50, dtype=np.int64), np.arange(50, dtype=np.uint8), np.arange(50) % 2 == 1]
    for which, whole in enumerate(expected):
        for gone in (0, 7):
            for constant in (0, 1):
                a = np.from_dlpack(Capsule(shim.shim_tensor(which, 50, gone, constant), b"dltensor_versioned"))
                right = a.dtype == whole.dtype and a.shape == whole[gone:].shape and (a == whole[gone:]).all()
                check.expect(right, f"column {which} without its first {gone}: {a.dtype} {a.shape}\n{a}")
                check.expect(a.flags.writeable == (not constant), f"column {which}: writeable is {a.flags.writeable}")
                del a  # calls the deleter
    old = np.from_dlpack(Capsule(shim.shim_old_tensor(50), b"dltensor"))
    check.expect((old == values).all(), "the form before DLPack 1.0 has other values")
    empty = np.from_dlpack(Capsule(shim.shim_tensor(0, 0, 0, 0), b"dltensor_versioned"))
    check.expect(empty.shape == (0, 2, 3), f"an empty batch has the shape {empty.shape}")


def try_own_tensors(check, shim):
    """Tensors of ours in NumPy, and NumPy's in ours."""
    for name in ("uint8", "int64", "float16", "float64", "bool"):
        whole = (np.arange(24) % 2 if name == "bool" else np.arange(24)).astype(name).reshape(2, 3, 4)
        for part in (-1, 1):
            for given in (0, 1):
                a = np.from_dlpack(Capsule(shim.shim_own_tensor(name.encode(), part, given), b"dltensor_versioned"))
                expected = whole if part < 0 else whole[part]
                right = a.dtype == expected.dtype and a.shape == expected.shape and (a == expected).all()
                check.expect(right, f"our {name}, part {part}: {a.dtype} {a.shape}\n{a}")
                check.expect(a.flags.writeable == bool(given), f"our {name}: writeable is {a.flags.writeable}")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.restype, rename.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]

    def taken(a, versioned):
        """As a consumer has to: renames the capsule, so that Python does not delete the tensor as well."""
        name, used = (b"dltensor_versioned", b"used_dltensor_versioned") if versioned else (b"dltensor", b"used_dltensor")
        capsule = a.__dlpack__(max_version=(1, 0)) if versioned else a.__dlpack__()
        t = pointer(capsule, name)
        rename(capsule, used)
        return shim.shim_take_tensor(t, versioned).decode()

    flags = [0] if int(np.__version__.split(".")[0]) < 2 else [0, 1]  # NumPy 2.1 has versions; 1.x has none
    for versioned in flags:
        for a in (np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(6, dtype=np.uint16)[::2],
                  np.arange(12, dtype=np.int8).reshape(3, 4).T, np.array([True, False]), np.zeros((2, 0), np.float64)):
            before = sys.getrefcount(a)
            said = taken(a, versioned)
            spec, how, values = said.split(" ", 2)
            check.expect(spec == f"{a.dtype}[{','.join(map(str, a.shape))}]", f"NumPy's {a.dtype} {a.shape} is {said}")
            check.expect(a.size == 0 or json.loads(values) == a.tolist(), f"NumPy's {a.tolist()} is {values}")
            check.expect(sys.getrefcount(a) == before, "the array is still referred to")
            if versioned and a.flags.c_contiguous and a.size:
                check.expect(how == "writable", f"a writable array is {how}")
                a.flags.writeable = False
                check.expect(" fixed " in taken(a, versioned), "an array that is read only can be written to")


def try_images(check, shim):
    """Batches of tensors as arrow.fixed_shape_tensor."""
    for name in ("uint8", "int64", "float16", "float64", "bool"):
        for gone in (0, 3):
            schema, array = Schema(), Array()
            said = shim.shim_images(name.encode(), gone, address(array), address(schema)).decode()
            check.expect(said == "ok", f"images of {name}: {said}")
            batch = pa.RecordBatch._import_from_c(address(array), address(schema))
            batch.validate(full=True)
            got = batch.column("image")
            check.expect(isinstance(got.type, pa.FixedShapeTensorType) and got.type.shape == [2, 3], f"{name} is {got.type}")
            numbers = (np.arange(60) % 2 if name == "bool" else np.arange(60)).astype(name).reshape(10, 2, 3)[gone:]
            values = got.storage.flatten().to_numpy(zero_copy_only=False).reshape(-1, 2, 3)
            check.expect((values == numbers).all() and values.shape == numbers.shape, f"images of {name}: {values}")
            check.expect(batch.column("label").to_pylist() == list(range(gone, 10)), "labels beside images")


def main():
    if not SHIM.exists():
        return skipped(f"there is no {SHIM}: a build with a sanitizer has none")
    check, shim = tree.checks(), load()
    try_tensors(check, shim)
    try_own_tensors(check, shim)
    try_images(check, shim)
    try_runs(check, shim)
    try_random(check, shim)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
