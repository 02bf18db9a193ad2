# SPDX-License-Identifier: Apache-2.0
"""DuckDB, Polars and pandas read what `sluice run --output arrow:FILE` writes: the same rows as --output jsonl has.

Each is skipped, with a message, where it cannot be imported; none is fetched.
"""
import importlib
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tidy"))
import tree  # noqa: E402

PROGRAM = os.environ.get("SLUICE_PROGRAM") or str(pathlib.Path(os.environ.get("SLUICE_BUILD", ROOT / "build")) / "sluice")
SCHEMA = '"text: bytes, label: int64, values: float[16]"'
LOOSE = '"text: bytes?, label: int64[], values: float[], score: float?"'


def rows_of_polars(path):
    return importlib.import_module("polars").read_ipc_stream(path).to_dicts()


def rows_of_duckdb(path):
    duckdb, pyarrow = (importlib.import_module(name) for name in ("duckdb", "pyarrow"))
    stream = pyarrow.ipc.open_stream(path)
    rows = duckdb.connect().from_arrow(stream)
    return [dict(zip(rows.columns, row)) for row in rows.fetchall()]


def rows_of_pandas(path):
    importlib.import_module("pandas")
    pyarrow = importlib.import_module("pyarrow")
    return pyarrow.ipc.open_stream(path).read_all().to_pandas().to_dict("records")


READERS = {"polars": rows_of_polars, "duckdb": rows_of_duckdb, "pandas": rows_of_pandas}


def plain(x):
    """The row in the types of JSON, as --output jsonl writes them; floats of 32 bits."""
    if hasattr(x, "tolist"):
        x = x.tolist()
    if isinstance(x, dict):
        return [plain(x["first"]), plain(x["second"])] if list(x) == ["first", "second"] else {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    if isinstance(x, (bytes, bytearray)):
        return x.decode()
    if isinstance(x, float):
        return None if x != x else struct.unpack("f", struct.pack("f", x))[0]  # pandas has NaN for null
    return x


def try_reader(check, name, folder):
    shards = f'list_files("{folder}/raw/*") | interleave(tfrecord)'
    plans = {
        "rows of a parsed batch": f"{shards} | batch(100) | parse_example({SCHEMA})",
        "optionals and lists": f"{shards} | parse_example({LOOSE}) | batch(70)",
        "pairs": f'lines("{folder}/lines.txt") | enumerate()',
        "numbers": "range(5000)",
        "batches of one column": "range(5000) | batch(300)",
        "no rows": "range(0)",
    }
    out = folder / "out.arrow"
    for what, plan in plans.items():
        for output in (f"arrow:{out}", f"jsonl:{folder}/out.jsonl"):
            subprocess.run([PROGRAM, "run", plan, "--output", output, "--quiet"], check=True, capture_output=True, timeout=120)
        said = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
        try:
            found = plain(READERS[name](out))
        except Exception as why:  # noqa: BLE001: whatever the reader says
            check.expect(False, f"{name} refuses {what}: {why}")
            continue
        check.expect(found == expected(said, plan), f"{name}: {what} differ: {found[:1]} {expected(said, plan)[:1]}")


def expected(said, plan):
    """Elements as rows: batches are their rows; what is no structure is the one column `value`."""
    rows = []
    for element in said:
        if "batch(" not in plan:
            rows.append(element if isinstance(element, dict) or "enumerate" in plan else {"value": element})
        elif isinstance(element, dict):
            rows += [dict(zip(element, values)) for values in zip(*element.values())]
        else:
            rows += [{"value": value} for value in element]
    return plain(rows)


def main():
    check = tree.checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "raw").mkdir()
        subprocess.run([PROGRAM, "sample", str(folder / "raw"), "--records", "3000", "--shards", "2"], check=True, capture_output=True)
        (folder / "lines.txt").write_text("".join(f"line {i}\n" for i in range(100)))
        for reader in READERS:
            try:
                importlib.import_module(reader)
                importlib.import_module("pyarrow")
            except ImportError as why:
                print(f"skipped: {reader}: {why}")
                continue
            try_reader(check, reader, folder)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
